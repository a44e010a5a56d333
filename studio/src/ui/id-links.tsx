import { Link } from '@tanstack/react-router';
import { shortId } from './format.tsx';

const LOOK = 'font-mono text-xs text-accent hover:underline';

/** A link to a run where its name is not known or goes without saying. */
export function RunIdLink({ run_id }: { run_id: string }) {
  return (
    <Link to="/runs/$runId" params={{ runId: run_id }} className={LOOK}>
      {shortId(run_id)}
    </Link>
  );
}

export function ThreadIdLink({ thread_id }: { thread_id: string }) {
  return (
    <Link to="/threads/$threadId" params={{ threadId: thread_id }} className={LOOK}>
      {shortId(thread_id)}
    </Link>
  );
}
