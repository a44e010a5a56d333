import { useInfiniteQuery } from '@tanstack/react-query';
import { PagedList } from '../../ui/paged-list.tsx';
import { Empty } from '../../ui/states.tsx';
import { RunTable } from '../runs/run-table.tsx';
import { threadRunsQuery } from './thread-queries.ts';

/** The runs of a thread, newest first. */
export function ThreadRuns({ threadId }: { threadId: string }) {
  const query = useInfiniteQuery(threadRunsQuery(threadId));
  const empty = (
    <Empty title="No runs">
      This thread has no runs. A copied thread keeps its history but not its runs.
    </Empty>
  );
  return (
    <PagedList query={query} what="runs" more="Show older runs" empty={empty}>
      {(runs) => <RunTable runs={runs} isOfThread />}
    </PagedList>
  );
}
