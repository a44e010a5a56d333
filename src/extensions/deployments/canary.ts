import { createHash } from 'node:crypto';
import { columns, flag } from '../../db/columns.ts';
import type { Reader, Transaction } from '../../db/db.ts';
import { list, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';

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

/**
 * Which runs a worker claims while several revisions serve: those of one revision, or all but those of some. What is
 * marked with a revision that does not serve any more is among the others, so that no run can be left without a worker.
 */
export type RevisionScope = { readonly only: string } | { readonly except: readonly string[] };

/** Begins with `and`; empty without a scope. */
export function inScope(scope: RevisionScope | undefined): Sql {
  if (!scope) return raw('');
  if ('only' in scope) return sql` and revision_id = ${scope.only}`;
  return sql` and (revision_id is null or revision_id not in ${list(scope.except)})`;
}

/** Whether a new thread is in the share. One that is in a small share is in every larger one too. */
export function isInShare(thread_id: string, percent: number): boolean {
  return createHash('sha256').update(thread_id).digest().readUInt32BE() % 100 < percent;
}

const THREAD = columns('threads', 'revision_id');
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
export async function executingRevision(
  tx: Transaction,
  { thread_id, graph_id }: RunOfThread,
  { active, canary, pinned }: RevisionRule,
): Promise<string | null> {
  const thread = await tx.get(sql`
    select ${THREAD}, (exists (select 1 from runs where thread_id = ${thread_id})
      or exists (select 1 from checkpoints where thread_id = ${thread_id})) as ${HAS_HISTORY}
    from threads where thread_id = ${thread_id}`);
  const own = thread?.revision_id ?? '';
  const forCanary = canary?.graph_ids.has(graph_id) ? canary : undefined;
  if (forCanary?.revision_id === own) return own;
  const pinnedTo = pinned?.get(own);
  if (pinnedTo) return pinnedTo.graph_ids.has(graph_id) ? own : null;
  const belongsTo = (revision_id: string) =>
    tx.run(sql`update threads set revision_id = ${revision_id} where thread_id = ${thread_id}`);
  if (forCanary && thread && !thread.has_history && isInShare(thread_id, forCanary.percent)) {
    await belongsTo(forCanary.revision_id);
    return forCanary.revision_id;
  }
  if (forCanary && !active.graph_ids.has(graph_id)) return forCanary.revision_id;
  if (!pinned || !thread) return null;
  if (own !== active.revision_id) await belongsTo(active.revision_id);
  return active.revision_id;
}

const REVISION_ID = columns('run_queue', 'revision_id');

/** Revisions that runs wait for by name; the active one may be among them. */
export async function revisionsWaitedFor(reader: Reader): Promise<string[]> {
  const rows = await reader.all(sql`
    select distinct ${REVISION_ID} from run_queue
    where state = 'ready' and revision_id is not null and not_before <= ${NOW}`);
  return rows.flatMap(({ revision_id }) => revision_id ?? []);
}
