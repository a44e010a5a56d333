import { useQuery } from '@tanstack/react-query';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { Ago, count, duration, errorLine } from '../../ui/format.tsx';
import { RunIdLink } from '../../ui/id-links.tsx';
import { useMoney } from '../../ui/money.ts';
import { Card, Facts } from '../../ui/page.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { Failure } from '../../ui/states.tsx';
import { usedBy } from '../run/used.ts';
import { RunChoice } from '../runs/run-choice.tsx';

import type { ComparedRun } from './use-compared-run.ts';

interface SideProps {
  readonly name: 'Left' | 'Right';
  readonly run: ComparedRun;
  readonly other: ComparedRun;
  readonly onChoose: (run_id: string) => void;
}

/** One of the two runs: which it is, how it ended, and what it took as a whole. */
export function Side({ name, run: { run_id, run, explanation, steps, error }, other, onChoose }: SideProps) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistants.find(({ assistant_id }) => assistant_id === run?.assistant_id);
  const { started_at, ended_at } = explanation ?? {};
  const { tokens, cost } = usedBy(steps);
  const money = useMoney();
  return (
    <Card className="flex min-w-0 flex-col gap-3 p-4">
      <h2 className="sr-only">{name} run</h2>
      <div className="flex flex-wrap items-center gap-2">
        <RunChoice
          label={`${name} run`}
          // What is compared is mostly of the same assistant.
          assistantId={run_id === undefined ? other.run?.assistant_id : undefined}
          run={run_id}
          onChoose={onChoose}
        />
        {explanation && <StatusPill status={explanation.status} />}
        {run_id !== undefined && <RunIdLink run_id={run_id} />}
      </div>
      {error && <Failure error={error} />}
      {run && (
        <Facts
          items={[
            ['Assistant', assistant ? assistantName(assistant) : run.assistant_id],
            ['Created', <Ago key="at" at={run.created_at} />],
            ...(started_at && ended_at
              ? [['Duration', duration(Date.parse(ended_at) - Date.parse(started_at))] as const]
              : []),
            ...(tokens > 0 ? [['Tokens', count(tokens)] as const] : []),
            ...(cost === null ? [] : [['Cost', money(cost)] as const]),
            ...(explanation?.error ? [['Error', errorLine(explanation.error)] as const] : []),
          ]}
        />
      )}
    </Card>
  );
}
