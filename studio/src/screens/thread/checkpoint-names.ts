import { useQueries } from '@tanstack/react-query';
import { type CheckpointNode, nextNodesQuery } from './thread-queries.ts';

/** Checkpoints whose next nodes are asked for at once. The server reads their values for it. */
const CHUNK = 40;

/** Which nodes follow a checkpoint; undefined while it is not known. */
export type NextNodes = (checkpoint_id: string | null) => readonly string[] | undefined;

/** The next nodes of the rows from `first` to `last` and of their parents, as far as they are loaded. */
export function useNextNodes(
  thread_id: string,
  nodes: readonly CheckpointNode[],
  first: number,
  last: number,
): NextNodes {
  const from = Math.floor(first / CHUNK);
  const until = Math.floor(last / CHUNK);
  const chunks = Array.from({ length: Math.max(0, until - from + 1) }, (_, i) => (from + i) * CHUNK);
  const results = useQueries({
    queries: chunks.map((start) =>
      // With the first of the next chunk, which is the parent of this one's last.
      nextNodesQuery(thread_id, nodes[start - 1]?.checkpoint_id, CHUNK + 1),
    ),
  });
  return (id) => {
    if (id === null) return undefined;
    for (const { data } of results) {
      const next = data?.get(id);
      if (next) return next;
    }
    return undefined;
  };
}

/** What wrote a checkpoint, in the words of the page. */
export function nameOf(node: CheckpointNode, next: NextNodes): string {
  const { source, parent_checkpoint_id, changed_channels } = node;
  if (source === 'input') return 'start of a run';
  if (source === 'fork' || (source === 'update' && changed_channels?.length === 0)) return 'fork';
  if (source === 'update') return 'edited by hand';
  const writers = [...new Set(next(parent_checkpoint_id))];
  if (writers.length === 0) return node.step === null ? 'unreadable' : `step ${node.step}`;
  if (writers[0] === '__start__') return 'input';
  return writers.length > 3
    ? `${writers.slice(0, 2).join(', ')} and ${writers.length - 2} more`
    : writers.join(', ');
}
