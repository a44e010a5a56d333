import { z } from 'zod';
import type { CheckpointQuery } from '../../storage/checkpoints/find.ts';
import { CheckpointPage } from './checkpoint-messages.ts';

/**
 * What the first search for checkpoints of a session is expected to be, and what it finds. LangGraph begins with one:
 * a host that has its result already need not ask for it.
 */
export const FirstSearch = z.object({ search: z.string(), page: CheckpointPage });
export type FirstSearch = z.infer<typeof FirstSearch>;

/** The same text for two queries of the same search. */
export function searchOf(query: CheckpointQuery): string {
  const { thread_id, ns, checkpoint_id, before_id, metadata, limit } = query;
  return JSON.stringify([thread_id, ns, checkpoint_id, before_id, metadata, limit]);
}
