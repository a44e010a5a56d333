import { useQuery } from '@tanstack/react-query';
import { LogLines } from '../../ui/log-lines.tsx';
import { Card } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { logsQuery } from './run-queries.ts';

/** What the code of the run printed, with the node that did. */
export function Logs({ run_id }: { run_id: string }) {
  const { data, error, refetch } = useQuery(logsQuery(run_id));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the log" />;
  if (data.length === 0) {
    return (
      <Empty title="Nothing was printed">
        What the code of the graph writes to the console is shown here.
      </Empty>
    );
  }
  return (
    <Card className="overflow-x-auto p-3">
      <LogLines lines={data} keyOf={({ seq }) => seq} />
    </Card>
  );
}
