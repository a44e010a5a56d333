import { Pill } from '../../ui/pill.tsx';

/** What is read of a message; others are shown as JSON. */
interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly name?: unknown;
  readonly tool_calls?: unknown;
}

/** A message as a model saw it, or answered it. */
export function CallMessage({ message, isNew }: { message: unknown; isNew: boolean }) {
  const { role, content, name, tool_calls } = fieldsOf(message);
  const calls = Array.isArray(tool_calls) ? tool_calls.map(fieldsOfCall) : [];
  const text = textOf(content);
  return (
    <article
      className={`flex min-w-0 flex-col gap-1 rounded-lg border p-3 ${isNew ? 'border-accent bg-accent-bg' : 'border-line'}`}
    >
      <h4 className="flex items-center gap-2 text-xs font-semibold text-ink-2">
        {typeof role === 'string' ? role : 'message'}
        {typeof name === 'string' && <span className="font-mono font-normal">{name}</span>}
        {isNew && <Pill tone="run">new</Pill>}
      </h4>
      {text !== '' && (
        <p tabIndex={0} className="max-h-80 overflow-auto break-words whitespace-pre-wrap -outline-offset-2">
          {text}
        </p>
      )}
      {calls.map(({ called, given }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls of a message never move
        <p key={n} className="font-mono text-xs/[18px] break-words whitespace-pre-wrap">
          {called}({given})
        </p>
      ))}
    </article>
  );
}

function fieldsOf(message: unknown): Message {
  return typeof message === 'object' && message !== null ? message : { content: message };
}

function fieldsOfCall(call: unknown): { called: string; given: string } {
  const { name, args } = (typeof call === 'object' && call !== null ? call : {}) as Record<string, unknown>;
  return { called: String(name ?? 'tool'), given: JSON.stringify(args, null, 2) ?? '' };
}

/** Texts of blocks, and other blocks as JSON. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return JSON.stringify(content, null, 2);
  return content
    .map((block) => (typeof block?.text === 'string' ? block.text : JSON.stringify(block, null, 2)))
    .join('\n');
}
