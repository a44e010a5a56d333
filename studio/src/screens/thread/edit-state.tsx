import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { drawingQuery } from '../graph/graph-queries.ts';
import type { Thread } from '../threads/threads-query.ts';
import { assistantOf, edit } from './checkpoint-actions.ts';
import { type EditorHandle, JsonEditor } from './json-editor.tsx';
import { valuesQuery } from './thread-queries.ts';

interface EditStateProps {
  readonly thread: Thread;
  readonly checkpoint_id: string;
  readonly writer: string | undefined;
  readonly close: () => void;
  /** Called with the id of the new checkpoint. */
  readonly done: (checkpoint_id: string) => Promise<void>;
}

/** Dialog that writes a checkpoint with values as a node would return them. */
export function EditState({ thread, checkpoint_id, writer, close, done }: EditStateProps) {
  const nodes = useNodes(assistantOf(thread.metadata));
  const { data: values = {} } = useQuery(valuesQuery(thread.thread_id, checkpoint_id, null));
  const [text, setText] = useState('{}');
  const [asNode, setAsNode] = useState(writer && writer !== '__start__' ? writer : '');
  const editor = useRef<EditorHandle>(null);
  const parsed = parse(text);
  const saving = useMutation({
    mutationFn: () => edit(thread.thread_id, checkpoint_id, parsed.values ?? {}, asNode || undefined),
  });
  // An option of the call: a late response must not select anything in another view.
  const onSuccess = (id: string) => {
    close();
    void done(id);
  };
  return (
    <Dialog title="Edit state" open onClose={close}>
      <p className="text-ink-2">
        Enter what the node would return. A channel with a reducer, such as a list of messages, adds it to the
        current value; messages with the same id are replaced.
      </p>
      <Field label="As node">
        <Select
          value={asNode}
          onChange={({ target }) => setAsNode(target.value)}
          options={[['', 'Last node'], ...nodes.map((node) => [node, node] as const)]}
        />
      </Field>
      <div className="flex flex-col gap-1">
        <JsonEditor ref={editor} label="Values" initial={text} onChange={setText} />
        <p role="status" className="text-xs text-err empty:hidden">
          {parsed.problem}
        </p>
      </div>
      <Channels
        values={values}
        insert={
          parsed.values &&
          ((change) => editor.current?.replace(JSON.stringify({ ...parsed.values, ...change }, null, 2)))
        }
      />
      {saving.error && (
        <p role="alert" className="break-words whitespace-pre-wrap text-err">
          {saving.error.message}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Discard</Button>
        <Button
          look="primary"
          disabled={!parsed.values || saving.isPending}
          onClick={() => saving.mutate(undefined, { onSuccess })}
        >
          Write checkpoint
        </Button>
      </div>
    </Dialog>
  );
}

interface ChannelsProps {
  readonly values: Readonly<Record<string, unknown>>;
  /** Absent while the text is not valid JSON. */
  readonly insert: ((change: Readonly<Record<string, unknown>>) => void) | undefined;
}

/** Inserts the current value of a channel into the text. */
function Channels({ values, insert }: ChannelsProps) {
  const channels = Object.entries(values);
  if (channels.length === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-2 text-ink-2">
      <span>Insert the value of</span>
      {channels.map(([name, value]) => (
        <Button key={name} disabled={!insert} onClick={() => insert?.({ [name]: value })}>
          {name}
        </Button>
      ))}
    </div>
  );
}

type Values = NonNullable<Schemas['ThreadStateUpdate']['values']>;

function parse(text: string): { values?: Values; problem?: string } {
  try {
    const values: unknown = JSON.parse(text);
    if (typeof values === 'object' && values !== null) return { values: values as Values };
    return { problem: 'Enter a JSON object of channels and their values.' };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** The nodes of the thread's graph. None if it cannot be drawn. */
function useNodes(assistant_id: string | undefined): string[] {
  const { data } = useQuery({
    ...drawingQuery(assistant_id ?? '', false),
    enabled: assistant_id !== undefined,
  });
  const names = (data?.nodes ?? []).map(({ id }) => String(id));
  return names.filter((name) => !name.startsWith('__'));
}
