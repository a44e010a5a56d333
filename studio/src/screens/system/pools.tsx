import { count } from '../../ui/format.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { labels, type Readings, total } from './readings.ts';

/** PostgreSQL connection pools. Nothing on SQLite. */
export function Pools({ readings }: { readings: Readings }) {
  const pools = labels(readings, 'lg_api_pg_pool_size', 'pool');
  if (pools.length === 0) return null;
  return (
    <Table label="Connections to the database" columns={['Pool', 'Open', 'Free', 'Maximum', 'Waiting']}>
      {pools.map((pool) => {
        const of = (metric: string) => count(total(readings, metric, `pool="${pool}"`) ?? 0);
        return (
          <Row key={pool}>
            <Cell className="font-medium">{pool}</Cell>
            <Cell>{of('lg_api_pg_pool_size')}</Cell>
            <Cell>{of('lg_api_pg_pool_available')}</Cell>
            <Cell>{of('lg_api_pg_pool_max')}</Cell>
            <Cell>{of('agent_server_pg_pool_waiting')}</Cell>
          </Row>
        );
      })}
    </Table>
  );
}
