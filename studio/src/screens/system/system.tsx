import { useQuery } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Forbidden } from '../../ui/forbidden.tsx';
import { Ago, byteSize, count, duration, plural } from '../../ui/format.tsx';
import { Facts, Page, Panel } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { overviewQuery } from '../overview/overview-query.ts';
import { Charts } from './charts.tsx';
import { Leases } from './leases.tsx';
import { LogTail } from './log-tail.tsx';

/** Polling interval for data without change events, ms. */
const INTERVAL_MS = 10_000;

/** System screen: processes, queue, storage and charts. */
export function System() {
  const { isOperator } = useSession();
  return (
    <Page title="System">
      <Charts />
      {isOperator ? (
        <Server />
      ) : (
        <Forbidden>Processes and storage need an unrestricted key with the scope admin.</Forbidden>
      )}
      <LogTail />
    </Page>
  );
}

function Server() {
  const { data, error, refetch } = useQuery({ ...overviewQuery, refetchInterval: INTERVAL_MS });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="server status" />;
  return (
    <>
      <h2 className="text-xs font-semibold text-ink-2">Processes</h2>
      <Processes processes={data.processes} />
      <h2 className="text-xs font-semibold text-ink-2">Executing now</h2>
      <Leases />
      <div className="grid gap-4 lg:grid-cols-2">
        <Queue />
        <Storage overview={data} />
      </div>
    </>
  );
}

const ROLES = { all: 'requests and runs', api: 'requests', worker: 'runs' } as const;

function Processes({ processes }: { processes: Schemas['SystemOverview']['processes'] }) {
  return (
    <Table
      label="Processes"
      columns={['Machine', 'Process', 'Version', 'Role', 'Run slots', 'Hosts', 'Started']}
    >
      {processes.map(({ worker_id, host, pid, version, role, slots, hosts, started_at }) => (
        <Row key={worker_id}>
          <Cell className="font-medium">{host}</Cell>
          <Cell>{pid}</Cell>
          <Cell>{version}</Cell>
          <Cell className="whitespace-nowrap">{role === null ? 'unknown' : ROLES[role]}</Cell>
          <Cell>{slots}</Cell>
          <Cell>{hosts ?? ''}</Cell>
          <Cell className="text-ink-2">
            <Ago at={started_at} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function Queue() {
  const { data, error, refetch } = useQuery({
    queryKey: ['system', 'queue'],
    queryFn: () => dataOf(api.GET('/metrics', { params: { query: { format: 'json' } } })),
    refetchInterval: INTERVAL_MS,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data || typeof data === 'string') return <Loading what="the queue" />;
  const { queue, workers } = data;
  const wait = (secs: number | null): string => (secs === null ? 'nothing waits' : duration(secs * 1000));
  return (
    <Panel title="Queue">
      <Facts
        items={[
          ['Waiting', `${count(queue.n_pending)} ${plural(queue.n_pending, 'run')}`],
          ['Longest wait', wait(queue.pending_runs_wait_time_max_secs)],
          ['Median wait', wait(queue.pending_runs_wait_time_med_secs)],
          ['Running', `${count(queue.n_running)} ${plural(queue.n_running, 'run')}`],
          ['This process', `${workers.active} of ${workers.max} slots in use`],
        ]}
      />
    </Panel>
  );
}

function Storage({
  overview: { storage, versions, threads, crons },
}: {
  overview: Schemas['SystemOverview'];
}) {
  return (
    <Panel title="Server">
      <Facts
        items={[
          ['Version', versions.server],
          ['LangGraph.js', versions.langgraph_js ?? 'not installed'],
          ['Node', versions.node],
          [
            'Storage',
            `${storage.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${byteSize(storage.size_bytes)}`,
          ],
          ['Threads', `${count(threads.total)}, ${count(threads.busy)} busy`],
          ['Crons', `${count(crons.enabled)} scheduled, ${count(crons.overdue)} overdue`],
        ]}
      />
    </Panel>
  );
}
