import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { plural } from '../../ui/format.tsx';
import { cancelRuns, copyThreads, exportThreads, pruneThreads } from './thread-actions.ts';

interface SelectionBarProps {
  readonly ids: readonly string[];
  readonly clear: () => void;
}

/** Bulk actions for the selected threads, and their result. */
export function SelectionBar({ ids, clear }: SelectionBarProps) {
  const { can } = useSession();
  const client = useQueryClient();
  const [asks, setAsks] = useState<'keep_latest' | 'delete'>();
  const work = useMutation({
    mutationFn: (action: () => Promise<string>) => action(),
    onSuccess: () => client.invalidateQueries({ queryKey: ['thread', 'list'] }),
  });
  const run = (action: () => Promise<string>) => () => work.mutate(action);
  const threads = `${ids.length} ${plural(ids.length, 'thread')}`;
  return (
    <div className="flex min-h-7 flex-none flex-wrap items-center gap-2 text-ink-2">
      {ids.length === 0 && !work.data && !work.error && <span>Select threads to cancel, prune, copy …</span>}
      {ids.length > 0 && (
        <>
          <span>{threads} selected</span>
          {can('run') && (
            <>
              <Button onClick={run(() => cancelRuns(ids))}>Cancel runs</Button>
              <Button onClick={run(() => copyThreads(ids))}>Copy</Button>
            </>
          )}
          <Button onClick={run(() => exportThreads(ids))}>Export JSON</Button>
          {can('run') && (
            <>
              <Button onClick={() => setAsks('keep_latest')}>Prune …</Button>
              <Button look="danger" onClick={() => setAsks('delete')}>
                Delete …
              </Button>
            </>
          )}
          <Button look="quiet" onClick={clear}>
            Clear selection
          </Button>
        </>
      )}
      <span role="status">{work.isPending ? 'Working …' : work.data}</span>
      {work.error && (
        <span role="alert" className="text-err">
          {work.error.message}
        </span>
      )}
      {asks && (
        <Confirm
          what={asks}
          threads={threads}
          close={() => setAsks(undefined)}
          go={run(() => pruneThreads(ids, asks))}
        />
      )}
    </div>
  );
}

interface ConfirmProps {
  readonly what: 'keep_latest' | 'delete';
  /** Such as `3 threads`. */
  readonly threads: string;
  readonly close: () => void;
  readonly go: () => void;
}

const QUESTIONS = {
  keep_latest: [
    'Prune',
    'This deletes their older checkpoints and keeps the newest state. You can no longer view or fork earlier states.',
  ],
  delete: [
    'Delete',
    'This also deletes their runs and history, and cancels active runs. This cannot be undone.',
  ],
} as const;

/** Confirms a destructive action. */
export function Confirm({ what, threads, close, go }: ConfirmProps) {
  const [verb, consequence] = QUESTIONS[what];
  return (
    <Dialog open onClose={close} title={`${verb} ${threads}?`}>
      <p className="text-ink-2">{consequence}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Keep</Button>
        <Button
          look="danger"
          onClick={() => {
            close();
            go();
          }}
        >
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}
