import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useRef,
  useState,
} from 'react';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { byteSize } from '../../ui/format.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { blocksOfFiles, contentOf, fileLimit } from './attachments.ts';
import { remember, useEarlierInputs } from './earlier-inputs.ts';
import { Medium } from './media.tsx';
import { type Block, type Message, mediaOf } from './messages.ts';
import { useKeptFocus, useWritten } from './written.ts';

interface ComposerProps {
  readonly assistant_id: string;
  /** Key of the conversation that the message belongs to. */
  readonly place: string;
  readonly name: string;
  readonly said: readonly string[];
  /** Sending is disabled, typing is not. */
  readonly isDisabled: boolean;
  /** Calls `onRefused` if the message is not accepted. `isNow` stops the active run first. */
  readonly onSend: (content: Message['content'], onRefused: () => void, isNow: boolean) => void;
  /** Stops the active run. `undefined` if none is active. */
  readonly onStop: (() => void) | undefined;
  /** Whether a message may stop the active run. */
  readonly mayInterrupt?: boolean;
  /** Shows all fields of the input. `undefined` if there are no others. */
  readonly onForm: (() => void) | undefined;
}

/** The message box. Files can be chosen, pasted or dropped. */
export function Composer(props: ComposerProps) {
  const { assistant_id, place, name, said, isDisabled, onSend, onStop, mayInterrupt = false, onForm } = props;
  const [text, setText] = useWritten(`${place} message`, '');
  const attached = useAttachments(place);
  const goThrough = useEarlierInputs({ assistant_id, said, text, setText });
  const isEmpty = text.trim() === '' && attached.blocks.length === 0;
  const cannotSend = isEmpty || isDisabled || attached.isPending;
  function send(isNow: boolean) {
    if (cannotSend) return;
    const { blocks } = attached;
    function onRefused() {
      // Text typed in the meantime stays after it.
      setText((since) => (since === '' ? text : `${text}\n${since}`));
      attached.putBack(blocks);
    }
    onSend(contentOf(text, blocks), onRefused, isNow);
    remember(assistant_id, text);
    setText('');
    attached.clear();
  }
  function onKeyDown(event: KeyboardEvent) {
    goThrough(event);
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send(mayInterrupt && (event.ctrlKey || event.metaKey));
  }
  return (
    <Frame place={place} onDrop={attached.onDrop}>
      <Attached {...attached} />
      <textarea
        autoFocus
        aria-label={`Message ${name}`}
        placeholder={`Message ${name} …`}
        rows={2}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
        onPaste={attached.onPaste}
        className="field-sizing-content max-h-60 min-h-12 w-full resize-none bg-transparent outline-none"
      />
      <div className="flex flex-wrap items-center gap-2">
        <Attach onFiles={attached.add} />
        {onForm && (
          <Button look="quiet" onClick={onForm}>
            All fields
          </Button>
        )}
        <span className="text-xs text-ink-3 max-sm:hidden">↑ earlier messages</span>
        <div className="ml-auto flex flex-wrap justify-end gap-2">
          {onStop && <Button onClick={onStop}>Stop</Button>}
          {mayInterrupt && (
            <Button
              title="Stops the active run. Send waits for it to finish."
              disabled={cannotSend}
              onClick={() => send(true)}
            >
              Send now <KeyHint>Ctrl ⏎</KeyHint>
            </Button>
          )}
          <Button look="primary" disabled={cannotSend} onClick={() => send(false)}>
            Send <KeyHint>⏎</KeyHint>
          </Button>
        </div>
      </div>
    </Frame>
  );
}

interface FrameProps {
  readonly place: string;
  readonly children: ReactNode;
  readonly onDrop?: (event: DragEvent) => void;
}

export function Frame({ place, children, onDrop }: FrameProps) {
  return (
    <section
      ref={useKeptFocus(place)}
      aria-label="Input"
      onDrop={onDrop}
      onDragOver={(event) => event.preventDefault()}
      className="flex flex-none flex-col gap-2 rounded-[10px] border border-line-strong bg-panel p-3 shadow-sm focus-within:border-accent"
    >
      {children}
    </section>
  );
}

const NO_BLOCKS: readonly Block[] = [];

function useAttachments(place: string) {
  const [blocks, setBlocks] = useWritten<readonly Block[]>(`${place} files`, NO_BLOCKS);
  const [pending, setPending] = useWritten<readonly (readonly File[])[]>(`${place} pending files`, []);
  const [error, setError] = useState('');
  const { body_limit } = useSession();
  function add(files: readonly File[]) {
    if (files.length === 0) return;
    setError('');
    setPending((before) => [...before, files]);
    blocksOfFiles(files, blocks, body_limit)
      .then(
        (more) => setBlocks((before) => [...before, ...more]),
        (cause: Error) => setError(cause.message),
      )
      .finally(() => setPending((before) => before.filter((each) => each !== files)));
  }
  function onPaste({ clipboardData }: ClipboardEvent) {
    add([...clipboardData.files]);
  }
  function onDrop(event: DragEvent) {
    event.preventDefault();
    add([...event.dataTransfer.files]);
  }
  const remove = (block: Block) => setBlocks((before) => before.filter((each) => each !== block));
  const clear = () => setBlocks([]);
  const putBack = (sent: readonly Block[]) => setBlocks((since) => [...sent, ...since]);
  return { blocks, isPending: pending.length > 0, error, add, remove, onPaste, onDrop, clear, putBack };
}

function Attached({ blocks, isPending, error, remove }: ReturnType<typeof useAttachments>) {
  return (
    <>
      {error !== '' && (
        <p role="alert" className="text-err">
          {error}
        </p>
      )}
      {isPending && (
        <p role="status" className="text-ink-2">
          Attaching …
        </p>
      )}
      {blocks.length > 0 && (
        <ul aria-label="Attached" className="flex flex-wrap items-end gap-2">
          {blocks.map((block, i) => {
            const [item] = mediaOf({ type: 'human', content: [block] });
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: equal files have no other identity
              <li key={i} className="flex items-center gap-1 [&_img]:max-h-16">
                {item && <Medium item={item} />}
                <Button
                  look="quiet"
                  aria-label={`Remove ${item?.name ?? 'file'}`}
                  onClick={() => remove(block)}
                >
                  ×
                </Button>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

function Attach({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const { body_limit } = useSession();
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <Button look="quiet" className="-ml-2.5" onClick={() => input.current?.click()}>
        Attach
        <span className="text-xs font-normal text-ink-3">up to {byteSize(fileLimit(body_limit))}</span>
      </Button>
    </>
  );
}
