import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { FOR_UPDATE, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import { graphIdOf } from '../../schemas/runs.ts';
import type { Thread } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import type { AddedRun, Refusal } from '../riders.ts';
import { MARKER_COLUMNS, type RunMarkers } from '../runs/markers.ts';
import { AGENT_COLUMNS, KWARGS_COLUMN, type RunAgent } from '../runs/runs.ts';
import { unfinishedImport } from '../runs/unfinished-import.ts';
import { insertThread, type Ttl } from '../threads/row.ts';
import { acceptAnswer, type NewAnswer } from './accept-answer.ts';
import { type Cancelled, cancelRows } from './cancel.ts';
import { isByOwner } from './claim-fairly.ts';
import type { QueueContext } from './context.ts';
import { type EffectOnOthers, runsToDecideOn } from './multitask.ts';
import { promote } from './promote.ts';

/** The thread that a new run goes to, by its id. */
export interface TargetThread {
  /** Inserted in the same transaction if the thread is missing; without it, a missing thread is an outcome. */
  readonly if_missing?: Thread | undefined;
  /** TTL of a thread that is inserted. */
  readonly ttl?: Ttl | undefined;
  /** A thread that exists but is not visible counts as missing, and is not inserted. */
  readonly visibility?: Visibility | undefined;
}

/** When a new run is claimed, among those that wait. */
export interface ClaimOrder {
  /** Time until the run is due, ms; 0 for immediately. */
  readonly delay_ms?: number;
  /** Higher ones are claimed first; 0 by default. */
  readonly priority?: number;
  /** Who it is claimed for in turn, if the queue is fair by owner: a user or an API key; `''`: no owner. */
  readonly owner?: string;
}

export interface NewRun extends AddedRun {
  readonly markers: RunMarkers;
  /** Of the assistant, as it is now. */
  readonly agent: RunAgent;
  readonly thread: TargetThread;
  readonly order?: ClaimOrder;
  /** The client chose the run's id, which may have been used before; ids of the server are new. */
  readonly has_client_id?: boolean;
  /** What the request may answer, if its thread waits. */
  readonly answer?: NewAnswer | undefined;
  readonly others: EffectOnOthers;
}

export type QueuedResult = { readonly outcome: 'queued'; readonly ready: boolean } & Omit<
  Cancelled,
  'promoted'
>;

export type EnqueueResult =
  | { readonly outcome: 'missing thread' }
  | { readonly outcome: 'run exists' }
  /** By a rider. */
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'rejected'; readonly blocking: string[] }
  | QueuedResult;

/** What an enqueue must know of the queue. */
export type EnqueueRules = Pick<QueueContext, 'webhooks' | 'fairness' | 'placement' | 'riders'>;

/**
 * Inserts a run and applies the multitask strategy to the others of its thread: one transaction (engine §2). A run that
 * is refused leaves nothing.
 */
export async function enqueue(context: QueueContext, request: NewRun): Promise<EnqueueResult> {
  const [outcome] = await enqueueAll(context, [request]);
  return outcome as EnqueueResult;
}

/** Rolls back the transaction. */
class Refused extends Error {
  readonly outcomes: EnqueueResult[];

  constructor(outcomes: EnqueueResult[]) {
    super('a run is refused');
    this.outcomes = outcomes;
  }
}

/**
 * All or nothing: adds all runs, each on a thread of its own, or none. Outcomes are in the order of the requests; the
 * first that is not `queued` is the last one and rolls back the batch.
 */
export async function enqueueAll(
  { db, ...rules }: QueueContext,
  requests: readonly NewRun[],
): Promise<EnqueueResult[]> {
  try {
    return await db.transaction('sync', async (tx) => {
      // At once: on PostgreSQL their statements share round trips. Nothing may follow the end of the transaction.
      const working = requests.map((request) => enqueueIn(tx, request, rules));
      const all = Promise.all(working);
      await Promise.allSettled([all, ...working]);
      const outcomes = await all;
      const refused = outcomes.findIndex(({ outcome }) => outcome !== 'queued');
      if (refused >= 0) throw new Refused(outcomes.slice(0, refused + 1));
      return outcomes;
    });
  } catch (error) {
    if (error instanceof Refused) return error.outcomes;
    throw error;
  }
}

/** `enqueue` as part of a transaction. A run that is refused changes no thread, but may have made its own. */
export async function enqueueIn(
  tx: Transaction,
  request: NewRun,
  { webhooks, fairness, placement, riders }: EnqueueRules,
): Promise<EnqueueResult> {
  const { run, others, has_client_id = false } = request;
  const thread = await lockOrCreateThread(tx, request);
  if (!thread) return { outcome: 'missing thread' };
  const refusal = await riders.admit(tx, request);
  if (refusal) return { outcome: 'refused', refusal };
  const rows = thread.isOwn ? [] : await runsToDecideOn(tx, thread.thread_id, others);
  const blocking = rows.filter((row) => row.cancel_action === null).map((row) => row.run_id);
  if (others === 'reject' && blocking.length > 0) return { outcome: 'rejected', blocking };
  if (has_client_id && (await isUsed(tx, run.run_id))) return { outcome: 'run exists' };
  // Read here: an executor that ends while a transaction waits must get nothing new.
  const { thread_id } = run;
  const graph_id = graphIdOf(run.kwargs);
  const executor_id = (await placement?.()?.executorOf(tx, { thread_id, graph_id })) ?? null;
  const inserted = insertion(tx, request, riders.announceEnd(request));
  if (!has_client_id) tx.defer(inserted);
  else if ((await tx.run(sql`${inserted} on conflict (run_id) do nothing`)) === 0)
    return { outcome: 'run exists' };
  if (thread.metadata !== undefined) tx.defer(recordLatest(request, thread.metadata));
  const cancelled =
    typeof others === 'string'
      ? { stopping: [], ended: [], begun: undefined, announced: [] }
      : await cancelRows(tx, thread, rows, others, webhooks);
  // After those that the run replaces have left the queue.
  if (request.answer && thread.metadata !== undefined)
    await acceptAnswer(tx, request, request.answer, riders);
  const isReady = await addToQueue(tx, request, { thread, fairness, executor_id });
  await riders.enqueued(tx, request);
  return { outcome: 'queued', ready: isReady, ...cancelled };
}

/** The locked thread of a new run. */
interface Target {
  readonly thread_id: string;
  /** It was made for the run, under an id that nothing else knows: no run is before it. */
  readonly isOwn: boolean;
  /** JSON of a thread that was there before; that of a new one is complete. */
  readonly metadata?: string;
}

const STATE = columns('run_queue', 'state');
/** Purpose of the blind index: names of users are not stored in plain text next to encrypted data. */
const OWNER = 'run_queue.owner';

/** What decides where a new run waits, and for which workers. */
interface Placement {
  readonly thread: Target;
  readonly fairness: QueueContext['fairness'];
  /** What executes the run; null: whichever is active when it is claimed. */
  readonly executor_id: string | null;
}

/**
 * A run behind a head, or behind an earlier due run, is blocked; a run for later is scheduled. Returns true if a run of
 * the thread became ready: this one, or one ahead of it.
 */
async function addToQueue(
  tx: Transaction,
  { run, markers, order = {} }: NewRun,
  { thread, fairness, executor_id }: Placement,
): Promise<boolean> {
  const { thread_id, run_id } = run;
  const { delay_ms = 0, priority = 0, owner = '' } = order;
  const head = sql`select 1 from run_queue q where q.thread_id = ${thread_id} and q.state in ('ready', 'running')`;
  const isBlocked = sql`exists (${head})
    or exists (select 1 from run_queue q where q.thread_id = ${thread_id} and q.not_before <= ${NOW})`;
  const state =
    delay_ms > 0
      ? sql`'scheduled'`
      : thread.isOwn
        ? sql`'ready'`
        : sql`case when ${isBlocked} then 'blocked' else 'ready' end`;
  const stored_owner = isByOwner(fairness) ? tx.cipher.blindIndex(OWNER, owner) : null;
  const owns_thread = markers.thread_retention === 'keep' ? 0 : 1;
  const added = sql`
    insert into run_queue (run_id, thread_id, state, not_before, owns_thread, owner, priority, executor_id)
    values (${run_id}, ${thread_id}, ${state}, ${nowPlus(delay_ms)}, ${owns_thread}, ${stored_owner}, ${priority},
      ${executor_id})`;
  if (delay_ms > 0 || thread.isOwn) {
    tx.defer(added);
    return delay_ms <= 0;
  }
  const [hasHead, row] = await Promise.all([tx.get(head), tx.get(sql`${added} returning ${STATE}`)]);
  if (row?.state === 'ready') return true;
  return !hasHead && (await promote(tx, thread_id));
}

const STORED_THREAD = columns('threads', 'metadata, import_id');

/**
 * Locks the thread; inserts it if it is missing and may be. Throws `Conflict` during an import of its history.
 */
async function lockOrCreateThread(tx: Transaction, request: NewRun): Promise<Target | undefined> {
  const { run, markers, thread } = request;
  const { thread_id } = run;
  const isOwn = thread.if_missing !== undefined && markers.thread_retention !== 'keep';
  if (isOwn && (await insertIfMissing(tx, thread))) return { thread_id, isOwn };
  const found = await tx.get(
    sql`select ${STORED_THREAD} from threads where thread_id = ${thread_id} ${FOR_UPDATE}`,
  );
  if (found) {
    if (thread.visibility && !(await isVisible(tx, thread_id, thread.visibility))) return undefined;
    if (found.import_id !== null) throw unfinishedImport(thread_id);
    return { thread_id, isOwn: false, metadata: found.metadata };
  }
  if (!thread.if_missing) return undefined;
  // There was no row to lock, and a concurrent transaction may have inserted it.
  if (!(await insertIfMissing(tx, thread))) return lockOrCreateThread(tx, request);
  return { thread_id, isOwn: false };
}

async function insertIfMissing(tx: Transaction, { if_missing, ttl }: TargetThread): Promise<boolean> {
  return if_missing !== undefined && insertThread(tx, if_missing, ttl);
}

/** The graph and assistant of the latest run, in the thread's metadata (contract §2.2). */
function recordLatest({ run }: NewRun, stored: string): Sql {
  const latest = { graph_id: graphIdOf(run.kwargs), assistant_id: run.assistant_id };
  const metadata = toJson({ ...JSON.parse(stored), ...latest });
  return sql`update threads set metadata = ${metadata}, updated_at = ${run.updated_at}
    where thread_id = ${run.thread_id}`;
}

/** Under the lock: the condition may read other tables, which a `for update` sees as they were before the wait. */
async function isVisible(tx: Transaction, thread_id: string, visibility: Visibility): Promise<boolean> {
  const isAllowed = visible(VISIBLE_THREADS, visibility) ?? raw('true');
  return (
    (await tx.get(sql`select 1 from threads where thread_id = ${thread_id} and ${isAllowed}`)) !== undefined
  );
}

/** Guards against id reuse: a deleted run may have left a worker or a log, which would pass for the new run's. */
async function isUsed(tx: Transaction, run_id: string): Promise<boolean> {
  const [queued, logged] = await Promise.all([
    tx.get(sql`select 1 from run_queue where run_id = ${run_id}`),
    tx.get(sql`select 1 from run_events where run_id = ${run_id}
      union all select 1 from removed_run_logs where run_id = ${run_id} limit 1`),
  ]);
  return queued !== undefined || logged !== undefined;
}

function insertion(
  { cipher }: Pick<Transaction, 'cipher'>,
  { run, markers, agent, key_id }: NewRun,
  announces_end: boolean,
): Sql {
  return sql`
    insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, attempt,
      created_at, updated_at, announces_end, key_id, ${MARKER_COLUMNS}, ${AGENT_COLUMNS})
    values (${run.run_id}, ${run.thread_id}, ${run.assistant_id}, 'pending', ${toJson(run.metadata)},
      ${cipher.encryptJson(KWARGS_COLUMN, toJson(run.kwargs))}, ${run.multitask_strategy}, 0, ${run.created_at}, ${run.updated_at},
      ${Number(announces_end)}, ${key_id ?? null}, ${Number(markers.is_event_streaming)}, ${Number(markers.is_of_cron)},
      ${markers.thread_retention}, ${agent.assistant_name}, ${agent.assistant_version})`;
}
