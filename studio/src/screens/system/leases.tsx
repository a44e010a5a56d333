import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { Ago, Until } from '../../ui/format.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { Failure } from '../../ui/states.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';

/** Maximum number of leases shown, oldest first. */
const MAX_LEASES = 100;
/** Polling interval, ms: lease renewals are not reported as changes. */
const INTERVAL_MS = 5_000;

/** Which process executes which run, and when its lease ends. */
export function Leases() {
  const { data, error, refetch } = useQuery({
    queryKey: ['run', 'list', 'leases'],
    queryFn: () => dataOf(api.GET('/system/leases', { params: { query: { limit: MAX_LEASES } } })),
    refetchInterval: INTERVAL_MS,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return null;
  if (data.length === 0) return <p className="text-ink-2">No run is executing.</p>;
  return (
    <>
      <Table label="Leases" columns={['Run', 'Attempt', 'Since', 'Machine', 'Process', 'Lease ends in']}>
        {data.map(({ run_id, assistant_id, attempt, started_at, host, pid, expires_at }) => (
          <Row key={run_id}>
            <Cell>
              <RunLink run={{ run_id, ...(assistant_id !== null && { assistant_id }) }} />
            </Cell>
            <Cell>{attempt}</Cell>
            <Cell className="text-ink-2">{started_at && <Ago at={started_at} />}</Cell>
            <Cell className="font-medium">{host}</Cell>
            <Cell>{pid}</Cell>
            <Cell className="text-ink-2">
              <Until at={expires_at} />
            </Cell>
          </Row>
        ))}
      </Table>
      {data.length === MAX_LEASES && (
        <p className="text-ink-2">These are the oldest {MAX_LEASES}. The list of runs has all.</p>
      )}
    </>
  );
}
