import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { LogLines } from '../../ui/log-lines.tsx';
import { Card } from '../../ui/page.tsx';
import { logsQuery, type Steps } from './run-queries.ts';

interface FailureLogProps {
  readonly explanation: Schemas['RunExplanation'];
  readonly steps: Steps | undefined;
}

/**
 * A failure that no step had, as in the run's log: a graph that did not load, an input it refused, a time-out, a lost
 * worker. It has the stack and the source around the line.
 */
export function FailureLog({ explanation: { run_id, error, started_at }, steps }: FailureLogProps) {
  const isOutside = error !== null && steps?.steps.every(({ status }) => status !== 'error') === true;
  const { data } = useQuery({ ...logsQuery(run_id), enabled: isOutside });
  const known = error && `run failed: ${error.error}: ${error.message}`;
  const lines = data?.filter(({ level, message }) => /^(error|warn)$/.test(level) && message !== known) ?? [];
  if (!isOutside || lines.length === 0) return null;
  return (
    <Card className="flex max-h-[50vh] flex-none flex-col gap-2 overflow-auto p-4">
      <h2 className="font-medium">Outside its steps</h2>
      <LogLines lines={lines} keyOf={({ seq }) => seq} since={started_at ?? undefined} />
    </Card>
  );
}
