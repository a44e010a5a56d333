import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/fields.tsx';
import { MoreActions } from '../../ui/more-actions.tsx';
import { saveJson } from '../../ui/save-file.ts';
import { Confirm } from '../threads/selection-bar.tsx';
import { copyThread } from '../threads/thread-actions.ts';
import type { Thread } from '../threads/threads-query.ts';
import { assistantOf } from './checkpoint-actions.ts';

interface ThreadActionsProps {
  readonly thread: Thread;
  readonly title: string | undefined;
}

/** Actions of a thread. */
export function ThreadActions({ thread, title }: ThreadActionsProps) {
  const { can } = useSession();
  const navigate = useNavigate();
  const [asks, setAsks] = useState<'rename' | 'delete'>();
  const { thread_id } = thread;
  const open = (threadId: string) => navigate({ to: '/threads/$threadId', params: { threadId } });
  const copying = useMutation({ mutationFn: () => copyThread(thread_id) });
  const exporting = useMutation({ mutationFn: () => exportHistory(thread_id) });
  const deleting = useMutation({
    mutationFn: () => dataOf(api.DELETE('/threads/{thread_id}', { params: { path: { thread_id } } })),
  });
  const error = copying.error ?? exporting.error ?? deleting.error;
  const close = () => setAsks(undefined);
  // Navigation is an option of each call: a late response must not navigate a reader who has left the screen.
  const remove = () => deleting.mutate(undefined, { onSuccess: () => void navigate({ to: '/threads' }) });
  return (
    <>
      {error && (
        <span role="alert" className="text-err">
          {error.message}
        </span>
      )}
      <MoreActions>
        <Button look="quiet" disabled={exporting.isPending} onClick={() => exporting.mutate()}>
          Export
        </Button>
        {can('run') && (
          <>
            <Button look="quiet" onClick={() => setAsks('rename')}>
              Rename
            </Button>
            <Button
              disabled={copying.isPending}
              onClick={() => copying.mutate(undefined, { onSuccess: open })}
            >
              Copy thread
            </Button>
            <Button look="danger" disabled={deleting.isPending} onClick={() => setAsks('delete')}>
              Delete
            </Button>
          </>
        )}
      </MoreActions>
      <OpenInChat thread={thread} />
      {asks === 'rename' && <Rename thread_id={thread_id} title={title} close={close} />}
      {asks === 'delete' && <Confirm what="delete" threads="1 thread" close={close} go={remove} />}
    </>
  );
}

function OpenInChat({ thread: { thread_id, metadata } }: { thread: Thread }) {
  const assistantId = assistantOf(metadata);
  if (assistantId === undefined) return null;
  return (
    <Link
      to="/chat/$assistantId/$threadId"
      params={{ assistantId, threadId: thread_id }}
      className={buttonClass()}
    >
      Open in chat
    </Link>
  );
}

const HISTORY_PAGE = 100;

/** Exports the thread with all its states. */
async function exportHistory(thread_id: string): Promise<void> {
  const path = { thread_id };
  const thread = await dataOf(api.GET('/threads/{thread_id}', { params: { path } }));
  const history = [];
  for (let before: string | undefined; ; ) {
    const query = { limit: HISTORY_PAGE, ...(before === undefined ? {} : { before }) };
    const page = await dataOf(api.GET('/threads/{thread_id}/history', { params: { path, query } }));
    history.push(...page);
    before = page.at(-1)?.checkpoint_id ?? undefined;
    if (page.length < HISTORY_PAGE || before === undefined) break;
  }
  saveJson(`thread-${thread_id}`, { ...thread, history });
}

interface RenameProps {
  readonly thread_id: string;
  readonly title: string | undefined;
  readonly close: () => void;
}

function Rename({ thread_id, title = '', close }: RenameProps) {
  const [text, setText] = useState(title);
  const saving = useMutation({
    mutationFn: () => {
      const params = { path: { thread_id } };
      return dataOf(
        api.PATCH('/threads/{thread_id}', { params, body: { metadata: { title: text.trim() } } }),
      );
    },
    onSuccess: close,
  });
  return (
    <Dialog title="Rename" open onClose={close}>
      <DialogForm action="Save" sending={saving} close={close}>
        <Field label="Title">
          <TextInput autoFocus value={text} onChange={({ target }) => setText(target.value)} />
        </Field>
      </DialogForm>
    </Dialog>
  );
}
