import { EDITORS, useEditor } from '../graph/editor.ts';
import { Part } from './part.tsx';
import type { StepContents } from './run-queries.ts';

type Cause = NonNullable<StepContents['failure']>[number];
type Frame = Cause['frames'][number];

/** Why a step failed: the error and its causes, with the source around the line and the stack, frames of the project first. */
export function StepFailure({ causes }: { causes: readonly Cause[] }) {
  return causes.map((cause, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: causes never move
    <Part key={n} title={n === 0 ? 'Failure' : 'Caused by'}>
      <p className="break-words whitespace-pre-wrap">
        <span className="font-medium text-err">{cause.error}</span> {cause.message}
      </p>
      {cause.code !== null && (
        <pre
          tabIndex={0}
          aria-label={`Source of ${cause.error}`}
          role="group"
          className="overflow-auto rounded-lg bg-sunk p-3 font-mono text-xs/[18px]"
        >
          {cause.code}
        </pre>
      )}
      <Frames frames={cause.frames} />
    </Part>
  ));
}

function Frames({ frames }: { frames: readonly Frame[] }) {
  const own = frames.filter(({ is_own }) => is_own);
  const others = frames.filter(({ is_own }) => !is_own);
  return (
    <>
      <FrameList frames={own} />
      {others.length > 0 && (
        <details>
          <summary className="py-1 text-ink-2">{others.length} frames of packages</summary>
          <FrameList frames={others} />
        </details>
      )}
    </>
  );
}

function FrameList({ frames }: { frames: readonly Frame[] }) {
  if (frames.length === 0) return null;
  return (
    <ol className="flex flex-col gap-0.5 font-mono text-xs/5">
      {frames.map((frame, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: frames never move
        <li key={n} className="break-all">
          {frame.call !== '' && <span className="text-ink-2">{frame.call} </span>}
          <Place frame={frame} />
        </li>
      ))}
    </ol>
  );
}

/** The server gives the full path only to callers on its machine. */
function Place({ frame: { path, line, column, file } }: { frame: Frame }) {
  const chosen = useEditor();
  const editor = (Object.hasOwn(EDITORS, chosen) ? EDITORS[chosen] : undefined) ?? EDITORS['vscode'];
  const place = `${path}:${line}:${column}`;
  if (!file || !editor) return <span>{place}</span>;
  return (
    <a href={editor.href(file, line)} title={`Open in ${editor.name}`} className="text-accent underline">
      {place}
    </a>
  );
}
