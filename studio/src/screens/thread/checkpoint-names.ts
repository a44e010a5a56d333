import type { CheckpointNode } from './thread-queries.ts';

/** Display name of what wrote a checkpoint. */
export function nameOf({ source, changed_channels, nodes, step }: CheckpointNode): string {
  if (source === 'input') return 'start of a run';
  if (source === 'fork' || (source === 'update' && changed_channels?.length === 0)) return 'fork';
  if (source === 'update') return 'edited by hand';
  if (nodes === null || nodes.length === 0) return step === null ? 'unreadable' : `step ${step}`;
  if (nodes[0] === '__start__') return 'input';
  return nodes.length > 3 ? `${nodes.slice(0, 2).join(', ')} and ${nodes.length - 2} more` : nodes.join(', ');
}

/** Names of the next nodes, each once even if it has several tasks. */
export function namesOf(next: readonly string[]): string {
  return [...new Set(next)].map((name) => (name === '__start__' ? 'input' : name)).join(', ');
}
