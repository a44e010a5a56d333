import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { assistantOf, fork } from '../thread/checkpoint-actions.ts';
import { threadQuery } from '../thread/thread-queries.ts';
import { type DetailedStep, type Step, stepsQuery } from './run-queries.ts';

/** Of the node that a call is part of. */
function checkpointBefore({ attempt, parent, checkpoint_id }: Step, steps: readonly Step[]): string | null {
  if (checkpoint_id !== null || parent === null) return checkpoint_id;
  const around = steps.find((step) => step.attempt === attempt && step.number === parent);
  return around ? checkpointBefore(around, steps) : null;
}

/** Opens the chat at the state before a step, as a branch of the thread. For steps of the root graph, which has that state. */
export function OpenInChat({ details }: { details: DetailedStep }) {
  const { thread_id, run_id, namespace } = details;
  const { data: steps } = useQuery(stepsQuery(run_id));
  const checkpoint_id = checkpointBefore(details, steps?.steps ?? []);
  const { can } = useSession();
  const navigate = useNavigate();
  const { data: thread } = useQuery(threadQuery(thread_id));
  const assistantId = thread && assistantOf(thread.metadata);
  const open = useMutation({ mutationFn: (from: string) => fork(thread_id, from) });
  // An option of the call: a late response must not navigate a reader who has left the screen.
  const onSuccess = () =>
    void navigate({
      to: '/chat/$assistantId/$threadId',
      params: { assistantId: assistantId ?? '', threadId: thread_id },
    });
  if (!can('run') || checkpoint_id === null || namespace !== '' || assistantId === undefined) return null;
  return (
    <>
      <Button
        look="quiet"
        className="-ml-2.5"
        disabled={open.isPending}
        onClick={() => open.mutate(checkpoint_id, { onSuccess })}
      >
        Open in chat from here
      </Button>
      {open.error && (
        <span role="alert" className="text-err">
          {open.error.message}
        </span>
      )}
    </>
  );
}
