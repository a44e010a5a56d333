import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { runsOfThreadQuery } from '../chat/chat-queries.ts';
import { threadQuery } from '../thread/thread-queries.ts';
import type { Steps } from './run-queries.ts';

/** Whether the run ended with a question that is still open. Its status is success either way. */
export function useIsAsking(run: Schemas['Run'], steps: Steps | undefined): boolean {
  const hasAsked = steps?.steps.some(({ status }) => status === 'interrupted') ?? false;
  const { data: thread } = useQuery(threadQuery(run.thread_id));
  const { data: runs } = useQuery({ ...runsOfThreadQuery(run.thread_id), enabled: hasAsked });
  return hasAsked && thread?.status === 'interrupted' && runs?.[0]?.run_id === run.run_id;
}

/** Link to the question of a run, for callers who may answer it. */
export function Answer({ run: { assistant_id, thread_id } }: { run: Schemas['Run'] }) {
  const { can } = useSession();
  if (!can('run')) return null;
  return (
    <Link
      to="/chat/$assistantId/$threadId"
      params={{ assistantId: assistant_id, threadId: thread_id }}
      className={buttonClass('primary')}
    >
      Answer
    </Link>
  );
}
