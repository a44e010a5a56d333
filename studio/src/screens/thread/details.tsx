import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { Ago } from '../../ui/format.tsx';
import { RunIdLink } from '../../ui/id-links.tsx';
import { Json } from '../../ui/json.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Failure } from '../../ui/states.tsx';
import type { Thread } from '../threads/threads-query.ts';
import { Actions } from './actions.tsx';
import { nameOf, namesOf } from './checkpoint-names.ts';
import { type CheckpointNode, nextQuery } from './thread-queries.ts';

interface DetailsProps {
  readonly thread: Thread;
  readonly node: CheckpointNode;
  /** Starts the selection of a second checkpoint. */
  readonly compare: () => void;
  readonly select: (checkpoint_id: string) => void;
}

/** Sources of checkpoints other than nodes. */
const SOURCES: Readonly<Record<string, string>> = {
  input: 'run input',
  update: 'state edit',
  fork: 'fork of a checkpoint',
};

/** One checkpoint: its origin, next nodes and actions. */
export function Details({ thread, node, compare, select }: DetailsProps) {
  const { checkpoint_id, source, step, run_id, created_at } = node;
  const following = useQuery(nextQuery(thread.thread_id, checkpoint_id));
  return (
    <Card className="flex min-w-0 flex-col gap-4 overflow-auto p-4 max-lg:overflow-visible">
      <h2 className="font-semibold text-ink-2">Checkpoint</h2>
      <Facts
        items={[
          [
            'Id',
            <span key="id" title={checkpoint_id} className="font-mono text-xs">
              {checkpoint_id}
            </span>,
          ],
          ['Written by', SOURCES[source ?? ''] ?? nameOf(node)],
          ...(step === null ? [] : [['Step', step] as const]),
          ...(run_id === null ? [] : [['Run', <RunIdLink key="run" run_id={run_id} />] as const]),
          ...(created_at === null ? [] : [['Created', <Ago key="ago" at={created_at} />] as const]),
          ['Next', following.data ? namesOf(following.data.next) || 'nothing' : '…'],
        ]}
      />
      {following.error && <Failure error={following.error} retry={() => void following.refetch()} />}
      <Actions
        {...{ thread, node, compare, select }}
        writer={node.nodes?.[0]}
        hasNext={(following.data?.next.length ?? 0) > 0}
      />
      <Tasks tasks={following.data?.tasks ?? []} />
    </Card>
  );
}

/** Interrupts and errors of unfinished tasks. */
function Tasks({ tasks }: { tasks: readonly Schemas['ThreadTask'][] }) {
  return tasks.map(({ id, name, interrupts, error }) => (
    <section key={id} aria-label={`Task ${name}`} className="flex flex-col gap-2 empty:hidden">
      {interrupts.map((interrupt, i) => (
        <div key={interrupt.id ?? i} className="flex flex-col gap-1">
          <h3 className="text-xs font-medium break-words text-wait">
            <bdi>{name}</bdi> is waiting for an answer
          </h3>
          <Json value={interrupt.value} label={`Question of ${name}`} />
        </div>
      ))}
      {error !== null && error !== undefined && (
        <div className="flex flex-col gap-1">
          <h3 className="text-xs font-medium break-words text-err">
            <bdi>{name}</bdi> failed
          </h3>
          <p className="break-words whitespace-pre-wrap">
            {typeof error === 'string' ? error : JSON.stringify(error)}
          </p>
        </div>
      )}
    </section>
  ));
}
