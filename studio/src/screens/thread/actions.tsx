import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Loading } from '../../ui/states.tsx';
import type { Thread } from '../threads/threads-query.ts';
import { fork, rerun } from './checkpoint-actions.ts';
import type { CheckpointNode } from './thread-queries.ts';

const EditState = lazy(() => import('./edit-state.tsx').then(({ EditState }) => ({ default: EditState })));

interface ActionsProps {
  readonly thread: Thread;
  readonly node: CheckpointNode;
  /** The node that wrote the checkpoint, if known. */
  readonly writer: string | undefined;
  /** Whether a run from here has nodes to execute. */
  readonly hasNext: boolean;
  readonly compare: () => void;
  readonly select: (checkpoint_id: string) => void;
}

/** Actions of a checkpoint: fork, edit, re-run and compare. */
export function Actions({ thread, node, writer, hasNext, compare, select }: ActionsProps) {
  const { can } = useSession();
  const client = useQueryClient();
  const [edits, setEdits] = useState(false);
  const { thread_id } = thread;
  const { checkpoint_id } = node;
  const readAnew = () => client.invalidateQueries({ queryKey: ['thread', thread_id] });
  const show = async (id: string) => {
    await readAnew();
    select(id);
  };
  const forking = useMutation({ mutationFn: () => fork(thread_id, checkpoint_id), onSuccess: readAnew });
  const rerunning = useMutation({ mutationFn: () => rerun(thread, checkpoint_id) });
  const isBusy = forking.isPending || rerunning.isPending;
  const error = forking.error ?? rerunning.error;
  return (
    <div className="flex flex-col gap-2">
      {can('run') && (
        <>
          {/* An option of the call: a late response must not select anything in another view. */}
          <Button
            look="primary"
            disabled={isBusy}
            onClick={() => forking.mutate(undefined, { onSuccess: select })}
          >
            Fork from here
          </Button>
          <Button disabled={isBusy} onClick={() => setEdits(true)}>
            <span className="truncate">
              {writer && writer !== '__start__' ? `Edit state as ${writer} …` : 'Edit state …'}
            </span>
          </Button>
          <Button disabled={isBusy || !hasNext} onClick={() => rerunning.mutate()}>
            Re-run from here
          </Button>
        </>
      )}
      <Button look="quiet" onClick={compare}>
        Compare with …
      </Button>
      {rerunning.data && (
        <p role="status">
          <Link
            to="/runs/$runId"
            params={{ runId: rerunning.data }}
            className="text-accent underline-offset-2 hover:underline"
          >
            The run has started
          </Link>
        </p>
      )}
      {error && (
        <p role="alert" className="break-words text-err">
          {error.message}
        </p>
      )}
      {edits && (
        <Suspense fallback={<Loading what="the editor" />}>
          <EditState {...{ thread, checkpoint_id, writer }} close={() => setEdits(false)} done={show} />
        </Suspense>
      )}
    </div>
  );
}
