import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { LogLines } from '../../ui/log-lines.tsx';
import { Card } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { explanationQuery, logsQuery, pollOf } from './run-queries.ts';

/** Console output of a run, with the node that wrote it. */
export function Logs({ run: { run_id, status } }: { run: Schemas['Run'] }) {
  const { data, error, refetch } = useQuery({ ...logsQuery(run_id), refetchInterval: pollOf(status) });
  const { data: explanation } = useQuery(explanationQuery(run_id));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the log" />;
  if (data.length === 0) {
    return <Empty title="No log lines">Console output of the graph appears here.</Empty>;
  }
  return (
    <Card className="overflow-x-auto p-3">
      <LogLines lines={data} keyOf={({ seq }) => seq} since={explanation?.started_at ?? undefined} />
    </Card>
  );
}
