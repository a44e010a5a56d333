import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { type RunRequest, requestOf } from './run-request.ts';

interface RetryProps {
  readonly run: Schemas['Run'];
  /** Error of the run. An interrupted run without one waits for an answer. */
  readonly error: Schemas['RunExplanation']['error'];
}

/** Retries a failed or cancelled run, on its thread from where it started. */
export function Retry({ run, error }: RetryProps) {
  const { can } = useSession();
  const navigate = useNavigate();
  const retry = useMutation({ mutationFn: () => startAgain(run) });
  // An option of the call: a late response must not navigate a reader who has left the screen.
  const onSuccess = ({ run_id }: Schemas['Run']) =>
    void navigate({ to: '/runs/$runId', params: { runId: run_id } });
  const hasFailed = run.status === 'error' || run.status === 'timeout';
  const isCancelled = run.status === 'interrupted' && error !== null;
  if (!can('run') || !(hasFailed || isCancelled)) return null;
  return (
    <>
      {retry.error && (
        <span role="alert" className="text-err">
          {retry.error.message}
        </span>
      )}
      <Button disabled={retry.isPending} onClick={() => retry.mutate(undefined, { onSuccess })}>
        Retry
      </Button>
    </>
  );
}

async function startAgain(run: Schemas['Run']): Promise<Schemas['Run']> {
  const params = { path: { thread_id: run.thread_id } };
  const body = { stream_resumable: true, ...requestOf(run), ...(await beginningOf(run)) };
  return dataOf(api.POST('/threads/{thread_id}/runs', { params, body }));
}

/**
 * Where a run started. Its input may already be in the state and would be applied twice after the newest checkpoint. The
 * first run of a thread starts from its input, as it follows no checkpoint.
 */
async function beginningOf(run: Schemas['Run']): Promise<Pick<RunRequest, 'checkpoint_id' | 'input'>> {
  const first = await firstCheckpointOf(run);
  if (!first) return {};
  const { checkpoint_id, parent_checkpoint_id } = first;
  return parent_checkpoint_id === null
    ? { checkpoint_id, input: null }
    : { checkpoint_id: parent_checkpoint_id };
}

/** The tree lists the newest checkpoints first, and those of a run are not older than the run. */
async function firstCheckpointOf({ thread_id, run_id, created_at }: Schemas['Run']) {
  let first: Schemas['CheckpointNode'] | undefined;
  let cursor: string | undefined;
  do {
    const query = { limit: 200, ...(cursor !== undefined && { cursor }) };
    const params = { path: { thread_id }, query };
    const { data, next } = await pageOf(api.GET('/threads/{thread_id}/tree', { params }));
    first = data.findLast((node) => node.run_id === run_id) ?? first;
    const oldest = data.at(-1)?.created_at;
    cursor = oldest && Date.parse(oldest) < Date.parse(created_at) ? undefined : next;
  } while (cursor !== undefined);
  return first;
}
