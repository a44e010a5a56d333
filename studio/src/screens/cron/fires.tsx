import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { Ago, localTimes } from '../../ui/format.tsx';
import { RunIdLink } from '../../ui/id-links.tsx';
import { PagedList } from '../../ui/paged-list.tsx';
import { Pill, StatusPill, type Tone } from '../../ui/pill.tsx';
import { Empty } from '../../ui/states.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';

type Fire = Schemas['CronRun'];

const PAGE = 30;
const TONES: Readonly<Record<Fire['outcome'], Tone>> = {
  started: 'ok',
  rejected: 'wait',
  skipped: 'idle',
  failed: 'err',
};

const firesQuery = (cron_id: string) =>
  infiniteQueryOptions({
    // Keyed as a run, as it changes with the runs of the cron.
    queryKey: ['run', 'list', { cron_id }],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/runs/crons/{cron_id}/runs', {
          params: { path: { cron_id }, query: { limit: PAGE, offset: pageParam } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE ? undefined : pages.length * PAGE),
  });

/** Each time the cron fired: the run and its status, or why there was none. */
export function Fires({ cron_id }: { cron_id: string }) {
  const query = useInfiniteQuery(firesQuery(cron_id));
  const empty = <Empty title="Not fired yet" />;
  return (
    <PagedList query={query} what="history" more="Show older entries" empty={empty}>
      {(fires) => (
        <Table label="History" columns={['Scheduled for', 'Fired', 'Outcome', 'Run', 'Reason']}>
          {fires.map((fire) => (
            <FireRow key={`${fire.tick} ${fire.fired_at}`} fire={fire} />
          ))}
        </Table>
      )}
    </PagedList>
  );
}

function FireRow({ fire: { tick, fired_at, outcome, detail, run_id, status } }: { fire: Fire }) {
  return (
    <Row>
      <Cell className="whitespace-nowrap">
        {tick === null ? (
          <span className="text-ink-2">triggered manually</span>
        ) : (
          new Date(tick).toLocaleString()
        )}
      </Cell>
      <Cell className="text-ink-2">
        <Ago at={fired_at} />
      </Cell>
      <Cell>
        {outcome === 'started' && status !== null ? (
          <StatusPill status={status} />
        ) : (
          <Pill tone={TONES[outcome]}>{outcome}</Pill>
        )}
      </Cell>
      <Cell>{run_id !== null && <RunIdLink run_id={run_id} />}</Cell>
      <Cell className="max-w-[36ch] text-ink-2">{detail && localTimes(detail)}</Cell>
    </Row>
  );
}
