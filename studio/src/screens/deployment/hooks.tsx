import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { DeploymentHook } from '../../api/control-plane.ts';
import { Button } from '../../ui/button.tsx';
import { Ago } from '../../ui/format.tsx';
import { Pill, type Tone } from '../../ui/pill.tsx';
import { Failure } from '../../ui/states.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { hooksQuery } from '../deployments/deployment-queries.ts';
import { KINDS } from './pushes.tsx';

/** Initial number of hooks. */
const SHOWN = 5;

const TONES: Readonly<Record<DeploymentHook['outcome'], Tone>> = {
  queued: 'ok',
  known: 'idle',
  ignored: 'wait',
};

/** Received hooks with their results, newest first. */
export function Hooks({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(hooksQuery(id));
  const [isLong, setLong] = useState(false);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data || data.resources.length === 0) return null;
  const { resources } = data;
  return (
    <section className="flex flex-col gap-2">
      <h2 className="text-xs font-semibold text-ink-2">Hooks</h2>
      <Table label="Hooks" columns={['Received', 'From', 'Event', 'Branch or tag', 'Commit', 'Result']}>
        {resources.slice(0, isLong ? undefined : SHOWN).map((hook) => (
          <HookRow key={hook.id} hook={hook} />
        ))}
      </Table>
      {!isLong && resources.length > SHOWN && (
        <Button className="self-center" onClick={() => setLong(true)}>
          Show older hooks
        </Button>
      )}
    </section>
  );
}

function HookRow({ hook }: { hook: DeploymentHook }) {
  const { received_at, kind, event, ref, commit_sha, outcome, reason, revision_id } = hook;
  return (
    <Row>
      <Cell className="text-ink-2">
        <Ago at={received_at} />
      </Cell>
      <Cell>{KINDS[kind]}</Cell>
      <Cell className="max-w-[16ch] truncate">{event}</Cell>
      <Cell className="max-w-[24ch] truncate font-mono text-xs" title={ref ?? undefined}>
        {ref?.replace(/^refs\/(heads|tags)\//, '')}
      </Cell>
      <Cell className="font-mono text-xs" title={commit_sha ?? undefined}>
        {commit_sha?.slice(0, 8)}
      </Cell>
      <Cell>
        <span className="flex items-start gap-2">
          <Pill tone={TONES[outcome]}>{outcome}</Pill>
          {revision_id !== null && (
            <Link
              to="."
              search={(before: object) => ({ ...before, revision: revision_id })}
              replace
              className="font-medium whitespace-nowrap text-accent hover:underline"
            >
              Open revision
            </Link>
          )}
          {reason !== null && <span className="text-ink-2">{reason}</span>}
        </span>
      </Cell>
    </Row>
  );
}
