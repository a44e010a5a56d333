import type { DiffLine } from './diff.ts';

const LOOKS = {
  same: ['', ' ', 'text-ink-2'],
  fold: ['', '…', 'text-ink-3'],
  add: ['added: ', '+', 'bg-ok-bg text-ok'],
  delete: ['removed: ', '−', 'bg-err-bg text-err'],
} as const;

/** A line of a diff. The kind of change is also given as text. */
export function DiffText({ line: { kind, text } }: { line: DiffLine }) {
  const [word, sign, look] = LOOKS[kind];
  return (
    <p className={`px-4 break-words whitespace-pre-wrap ${look}`}>
      {word !== '' && <span className="sr-only">{word}</span>}
      <span aria-hidden="true">{sign} </span>
      {text}
    </p>
  );
}
