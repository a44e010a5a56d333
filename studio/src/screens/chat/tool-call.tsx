import { typedValue } from '../../api/values.ts';
import { Json } from '../../ui/json.tsx';
import { Media } from './media.tsx';
import { type ToolCall as Call, type Message, mediaOf, textOf } from './messages.ts';

interface ToolCallProps {
  readonly call: Call;
  /** The message with the result. `undefined` until there is one. */
  readonly result: Message | undefined;
  readonly isLive: boolean;
}

/** A tool call on one line, with its arguments and result when opened. */
export function ToolCall({ call, result, isLive }: ToolCallProps) {
  const failed = result?.status === 'error';
  return (
    <details className="rounded-lg border border-line bg-panel">
      <summary className="flex min-w-0 items-baseline gap-2 px-3 py-1.5">
        <Mark isDone={result !== undefined} failed={failed} isLive={isLive} />
        <span className="max-w-[60%] flex-none truncate font-medium">{call.name}</span>
        <code className="min-w-0 truncate font-mono text-xs text-ink-2">{inLine(call.args)}</code>
      </summary>
      <div className="flex flex-col gap-2 border-t border-line p-3">
        <p className="text-xs text-ink-2">Arguments</p>
        <Json value={call.args} label={`Arguments of ${call.name}`} />
        {result && (
          <>
            <p className="text-xs text-ink-2">{failed ? 'Error' : 'Result'}</p>
            <Media message={result} />
            {(textOf(result) !== '' || mediaOf(result).length === 0) && (
              // Many tools return JSON as text.
              <Json value={typedValue(textOf(result)).value} label={`Result of ${call.name}`} />
            )}
          </>
        )}
      </div>
    </details>
  );
}

function Mark({ isDone, failed, isLive }: { isDone: boolean; failed: boolean; isLive: boolean }) {
  if (failed) return <span className="text-err">failed</span>;
  if (isDone) {
    return (
      <span className="text-ok">
        <span aria-hidden="true">✓</span>
        <span className="sr-only">done</span>
      </span>
    );
  }
  return isLive ? <span className="text-run">running</span> : <span className="text-wait">waiting</span>;
}

function inLine(args: unknown): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}
