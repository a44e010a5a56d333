import { type KeyboardEvent, memo, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { TextArea } from '../../ui/fields.tsx';
import { Json } from '../../ui/json.tsx';
import { Markdown } from './markdown.tsx';
import { Media } from './media.tsx';
import { type Message as ChatMessage, reasoningOf, textOf, toolCallsOf } from './messages.ts';
import { ToolCall } from './tool-call.tsx';

/** Editing of a message. */
interface Editing {
  /** `undefined` while the message is not being edited. */
  readonly text: string | undefined;
  /** `undefined` cancels the edit. */
  readonly write: (text: string | undefined) => void;
  readonly send: (text: string) => void;
}

interface MessageProps {
  readonly message: ChatMessage;
  /** Tool messages by the id of their call. */
  readonly results: ReadonlyMap<string, ChatMessage>;
  readonly isLive: boolean;
  /** Hides reasoning, tools and other kinds of messages. */
  readonly isBrief: boolean;
  /** ‹2/3›: switches between the versions of this message. */
  readonly branches: ReactNode;
  /** `undefined` if the message cannot be edited. */
  readonly editing: Editing | undefined;
  readonly onRegenerate: ((message: ChatMessage) => void) | undefined;
}

/** A message with its actions. */
export const Message = memo(function Message(props: MessageProps) {
  const { message, results, isBrief } = props;
  if (message.type === 'human') return <Human {...props} />;
  if (message.type === 'ai') return <Answer {...props} />;
  // Tool results are shown with their calls.
  if (isBrief) return null;
  if (message.type === 'tool' && results.get(message.tool_call_id ?? '') === message) return null;
  return (
    <details className="rounded-lg border border-line bg-panel">
      <summary className="px-3 py-1.5 break-words text-ink-2">
        <bdi>{message.type}</bdi> message{message.name && ` of ${message.name}`}
      </summary>
      <div className="p-3 pt-0">
        <Json value={message.content} label={`${message.type} message`} />
      </div>
    </details>
  );
});

function Human({ message, branches, editing }: MessageProps) {
  if (editing?.text !== undefined) return <Editor {...editing} text={editing.text} />;
  return (
    <article aria-label="You" className="group flex max-w-[85%] flex-col items-end gap-1 self-end">
      <Media message={message} />
      {textOf(message) !== '' && (
        <p className="max-w-full rounded-[10px] bg-sunk px-3.5 py-2 wrap-anywhere whitespace-pre-wrap">
          {textOf(message)}
        </p>
      )}
      <Tools branches={branches}>
        {editing && (
          <Button look="quiet" onClick={() => editing.write(textOf(message))}>
            Edit
          </Button>
        )}
      </Tools>
    </article>
  );
}

function Answer({ message, results, isLive, isBrief, branches, onRegenerate }: MessageProps) {
  const text = textOf(message);
  const calls = toolCallsOf(message);
  if (isBrief && text === '' && calls.length > 0) return branches;
  const reasoning = reasoningOf(message);
  return (
    <article aria-label="Assistant" className="group flex min-w-0 flex-col gap-2.5">
      {reasoning !== '' && !isBrief && (
        <details className="text-ink-2" open={isLive && text === ''}>
          <summary className="w-fit text-xs">Reasoning</summary>
          <p className="mt-1 border-l-2 border-line pl-3 break-words whitespace-pre-wrap">{reasoning}</p>
        </details>
      )}
      <Media message={message} />
      {text !== '' && <Markdown text={text} isLive={isLive} />}
      {!isBrief &&
        calls.map((call) => (
          <ToolCall key={call.id} call={call} result={results.get(call.id)} isLive={isLive} />
        ))}
      {!isLive && (
        <Tools branches={branches}>
          {text !== '' && <CopyButton text={text} />}
          {onRegenerate && (
            <Button look="quiet" onClick={() => onRegenerate(message)}>
              Regenerate
            </Button>
          )}
        </Tools>
      )}
    </article>
  );
}

/** Actions appear on hover and focus. The branch switch is always visible, as it shows that other branches exist. */
function Tools({ branches, children }: { branches: ReactNode; children: ReactNode }) {
  return (
    <div className="-mt-0.5 -ml-2.5 flex h-6 items-center">
      {branches}
      <div className="flex opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        {children}
      </div>
    </div>
  );
}

function Editor({ text, write, send }: Editing & { text: string }) {
  const close = () => write(undefined);
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Escape') close();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send(text);
  }
  return (
    <div className="flex w-full max-w-[85%] flex-col gap-2 self-end">
      <TextArea
        autoFocus
        aria-label="Edit message"
        className="field-sizing-content max-h-60"
        value={text}
        onKeyDown={onKeyDown}
        onChange={({ target }) => write(target.value)}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button look="primary" onClick={() => send(text)}>
          Send
        </Button>
      </div>
    </div>
  );
}
