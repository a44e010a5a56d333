import { useInfiniteQuery } from '@tanstack/react-query';
import { Ago } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { PagedList } from '../../ui/paged-list.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { Empty } from '../../ui/states.tsx';
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
      {(runs) => (
        <Card className="flex-none">
          <ul>
            {runs.map((run) => (
              <li
                key={run.run_id}
                className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5 last:border-0 hover:bg-sunk"
              >
                <RunLink run={run} />
                <StatusPill status={run.status} />
                <span className="ml-auto text-ink-2">
                  <Ago at={run.created_at} />
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </PagedList>
  );
}
