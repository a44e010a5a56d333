import { immediate } from '../../core/event-loop.ts';
import type { NewCheckpoint } from '../../storage/checkpoints/put.ts';

/**
 * Stops a graph at a checkpoint, from which another attempt continues. The graph waits for what this returns. LangGraph drops
 * chunks that are still unread when it is stopped, and the next attempt does not stream them again: one turn of the event loop
 * lets the reader take them.
 */
export function stopAtCheckpoint(
  { metadata }: Pick<NewCheckpoint, 'metadata'>,
  stop: () => void,
): Promise<void> | undefined {
  const { source } = JSON.parse(metadata) as { readonly source?: string };
  if (source === 'loop') return immediate().then(stop);
  // Only at the end of a superstep does LangGraph wait; the next node would begin.
  stop();
  return undefined;
}
