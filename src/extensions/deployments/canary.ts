import { createHash } from 'node:crypto';
import { columns, flag } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import type { Placement } from '../../storage/queue/placement.ts';

/** A revision that can execute runs of these graphs. */
export interface ExecutingRevision {
  readonly revision_id: string;
  readonly graph_ids: ReadonlySet<string>;
}

/** What decides which revision executes a new run. */
export interface RevisionRule {
  /** Executes what no other revision does. */
  readonly active: ExecutingRevision;
  /** Takes a share of new threads, percent. */
  readonly canary?: (ExecutingRevision & { readonly percent: number }) | undefined;
  /**
   * What executes the runs of a thread that began with the revision of that id; one that is missing is not kept any more.
   * `undefined` unless threads stay with their revision.
   */
  readonly pinned?: ReadonlyMap<string, ExecutingRevision> | undefined;
}

/** Whether a new thread is in the share. One that is in a small share is in every larger one too. */
export function isInShare(thread_id: string, percent: number): boolean {
  return createHash('sha256').update(thread_id).digest().readUInt32BE() % 100 < percent;
}

const THREAD = columns('threads', 'executor_id');
const HAS_HISTORY = flag('has_history');

interface RunOfThread {
  readonly thread_id: string;
  readonly graph_id: string;
}

/**
 * The revision that executes the run; null: whichever is active when it is claimed. A thread without runs and state is
 * new: if it is in the share, it belongs to the canary from now on. Where threads stay with their revision, one that
 * belongs to none that is kept belongs to the active one from now on, and its runs name that too: they may be claimed, or
 * be left by a server that is killed, when another one is active. A graph that only one of two has is executed by that
 * one. The thread is locked, and the run is not inserted yet.
 */
async function executingRevision(
  tx: Transaction,
  { thread_id, graph_id }: RunOfThread,
  { active, canary, pinned }: RevisionRule,
): Promise<string | null> {
  const thread = await tx.get(sql`
    select ${THREAD}, (exists (select 1 from runs where thread_id = ${thread_id})
      or exists (select 1 from checkpoints where thread_id = ${thread_id})) as ${HAS_HISTORY}
    from threads where thread_id = ${thread_id}`);
  const own = thread?.executor_id ?? '';
  const forCanary = canary?.graph_ids.has(graph_id) ? canary : undefined;
  if (forCanary?.revision_id === own) return own;
  const pinnedTo = pinned?.get(own);
  if (pinnedTo) return pinnedTo.graph_ids.has(graph_id) ? own : null;
  const belongsTo = (revision_id: string) =>
    tx.run(sql`update threads set executor_id = ${revision_id} where thread_id = ${thread_id}`);
  if (forCanary && thread && !thread.has_history && isInShare(thread_id, forCanary.percent)) {
    await belongsTo(forCanary.revision_id);
    return forCanary.revision_id;
  }
  if (forCanary && !active.graph_ids.has(graph_id)) return forCanary.revision_id;
  if (!pinned || !thread) return null;
  if (own !== active.revision_id) await belongsTo(active.revision_id);
  return active.revision_id;
}

/** Of several revisions that share a queue, the rule chooses. */
export function placementBy(rule: RevisionRule): Placement {
  return { executorOf: (tx, run) => executingRevision(tx, run, rule) };
}
