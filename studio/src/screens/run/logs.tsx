import { useQuery } from '@tanstack/react-query';
import { Card } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { logsQuery } from './run-queries.ts';

const TONES: Readonly<Record<string, string>> = { warn: 'text-wait', error: 'text-err', debug: 'text-ink-3' };

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
      <ol className="font-mono text-xs/[18px]">
        {data.map(({ seq, time, level, node, message, at }) => (
          <li key={seq} className="flex gap-3">
            <time dateTime={time} className="text-ink-3">
              {time.slice(11, 23)}
            </time>
            <span className="w-24 flex-none truncate text-ink-2">{node ?? ''}</span>
            <span className={`min-w-0 flex-1 break-words whitespace-pre-wrap ${TONES[level] ?? ''}`}>
              {message}
            </span>
            <span className="text-ink-3">{at}</span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
