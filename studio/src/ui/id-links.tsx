import { Link } from '@tanstack/react-router';
import { shortId } from './format.tsx';

/** Classes of a link whose text is an id. */
export const ID_LINK = 'font-mono text-xs text-accent hover:underline';

/** A link to a run by its id. */
export function RunIdLink({ run_id }: { run_id: string }) {
  return (
    <Link to="/runs/$runId" params={{ runId: run_id }} className={ID_LINK}>
      {shortId(run_id)}
    </Link>
  );
}

export function ThreadIdLink({ thread_id }: { thread_id: string }) {
  return (
    <Link to="/threads/$threadId" params={{ threadId: thread_id }} className={ID_LINK}>
      {shortId(thread_id)}
    </Link>
  );
}
