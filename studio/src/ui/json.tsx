import { CopyButton } from './copy-button.tsx';

/** A value as JSON with a copy button. Long ones scroll. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2) ?? 'undefined';
  return (
    <figure className="relative min-w-0" aria-label={label}>
      <pre
        tabIndex={0}
        className="max-h-[60vh] overflow-auto rounded-lg bg-sunk p-3 font-mono text-xs/[18px] break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
      <CopyButton text={text} className="absolute top-1 right-1 bg-sunk" />
    </figure>
  );
}
