import { byteSize, count, duration } from '../../ui/format.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { labels, type Readings, total } from './readings.ts';

/** Graph hosts of the process that answers. Nothing if graphs run in the process itself. */
export function Hosts({ readings }: { readings: Readings }) {
  const hosts = labels(readings, 'agent_server_host_ready', 'host');
  if (hosts.length === 0) return null;
  return (
    <Table label="Graph hosts" columns={['Graph host', 'State', 'Runs', 'Memory', 'Blocked for', 'Restarts']}>
      {hosts.map((host) => {
        const of = (metric: string) => total(readings, `agent_server_host_${metric}`, `host="${host}"`) ?? 0;
        return (
          <Row key={host}>
            <Cell className="font-medium">{host}</Cell>
            <Cell>
              <Pill tone={of('ready') === 1 ? 'ok' : 'err'}>{of('ready') === 1 ? 'ready' : 'not ready'}</Pill>
            </Cell>
            <Cell>{count(of('runs_active'))}</Cell>
            <Cell>{byteSize(of('resident_memory_bytes'))}</Cell>
            <Cell>{duration(1000 * of('loop_blocked_seconds'))}</Cell>
            <Cell>{count(of('restarts'))}</Cell>
          </Row>
        );
      })}
    </Table>
  );
}
