import { useMutation } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';

/** A button that cancels a pending or running run, for callers who may. */
export function CancelRun({ run: { run_id, thread_id, status } }: { run: Schemas['Run'] }) {
  const { can } = useSession();
  const cancel = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/threads/{thread_id}/runs/{run_id}/cancel', { params: { path: { thread_id, run_id } } }),
      ),
  });
  if (!can('run') || (status !== 'pending' && status !== 'running')) return null;
  return (
    <>
      {cancel.error && (
        <span role="alert" className="text-err">
          {cancel.error.message}
        </span>
      )}
      <Button look="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
        Cancel
      </Button>
    </>
  );
}
