import { createHash } from 'node:crypto';
import { columns, flag } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';

/** A revision that takes a share of new threads, beside the one that serves the rest. */
export interface CanaryRule {
  readonly revision_id: string;
  /** Share of new threads, percent. */
  readonly percent: number;
  readonly graph_ids: ReadonlySet<string>;
  /** Graphs of the revision that serves the rest. */
  readonly active_graph_ids: ReadonlySet<string>;
}

/**
 * Which runs a worker claims while two revisions serve: those of the canary, or all others. What is marked with a
 * revision that is no canary any more is among the others, so that no run can be left without a worker.
 */
export type RevisionScope = { readonly only: string } | { readonly except: string };

/** Begins with `and`; empty without a scope. */
export function inScope(scope: RevisionScope | undefined): Sql {
  if (!scope) return raw('');
  return 'only' in scope
    ? sql` and revision_id = ${scope.only}`
    : sql` and (revision_id is null or revision_id <> ${scope.except})`;
}

/** Whether a new thread is in the share. One that is in a small share is in every larger one too. */
export function isInShare(thread_id: string, percent: number): boolean {
  return createHash('sha256').update(thread_id).digest().readUInt32BE() % 100 < percent;
}

const THREAD = columns('threads', 'revision_id');
const HAS_HISTORY = flag('has_history');

/**
 * The canary if it executes the run; null: the active revision does. A thread without runs and state is new: if it is in
 * the share, it belongs to the canary from now on. A graph that only one of both has is executed by that one. The thread
 * is locked, and the run is not inserted yet.
 */
export async function canaryOf(
  tx: Transaction,
  { thread_id, graph_id }: { readonly thread_id: string; readonly graph_id: string },
  { revision_id, percent, graph_ids, active_graph_ids }: CanaryRule,
): Promise<string | null> {
  if (!graph_ids.has(graph_id)) return null;
  const thread = await tx.get(sql`
    select ${THREAD}, (exists (select 1 from runs where thread_id = ${thread_id})
      or exists (select 1 from checkpoints where thread_id = ${thread_id})) as ${HAS_HISTORY}
    from threads where thread_id = ${thread_id}`);
  if (thread?.revision_id === revision_id) return revision_id;
  if (thread && !thread.has_history && isInShare(thread_id, percent)) {
    await tx.run(sql`update threads set revision_id = ${revision_id} where thread_id = ${thread_id}`);
    return revision_id;
  }
  return active_graph_ids.has(graph_id) ? null : revision_id;
}
