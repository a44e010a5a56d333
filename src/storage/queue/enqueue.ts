import { toJson } from '../../core/json.ts';
import { columns, flag } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { raw, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import type { Run } from '../../schemas/runs.ts';
import type { Thread } from '../../schemas/threads.ts';
import { acceptsTurn, insertTurn, type NewTurn } from '../a2a/turns.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { type IdempotencyKey, isPending, saveRun } from '../idempotency.ts';
import { MARKER_COLUMNS, type RunMarkers } from '../runs/markers.ts';
import { KWARGS_COLUMN } from '../runs/runs.ts';
import { type LockedThread, lockThreadRow, queuedRuns, withHead } from '../runs/thread-lock.ts';
import { insertThread, type Ttl } from '../threads/row.ts';
import { type Cancellation, type Cancelled, cancelRows } from './cancel.ts';
import { isByOwner } from './claim-fairly.ts';
import type { QueueContext } from './context.ts';
import { promote } from './promote.ts';
import { executingRevision } from './revision-rule.ts';

export interface NewRun {
  readonly run: Run;
  readonly markers: RunMarkers;
  /** Time until the run is due, ms; 0 for immediately. */
  readonly delay_ms: number;
  /** Higher ones are claimed first; 0 by default. */
  readonly priority?: number;
  /** Inserted in the same transaction if the thread is missing; without it, a missing thread is an outcome. */
  readonly thread: Thread | undefined;
  /** A thread that exists but is not visible counts as missing, and is not created. */
  readonly visibility?: Visibility | undefined;
  /** TTL of a thread that is created. */
  readonly thread_ttl?: Ttl | undefined;
  /** Merged into the thread's metadata: the graph and assistant of the latest run (CONTRACT §2.2). */
  readonly thread_metadata: Record<string, unknown>;
  /** Who it is claimed for in turn, if the queue is fair by owner: a user or an API key; `''`: no owner. */
  readonly owner?: string;
  /** Id of the API key that the request was made with. */
  readonly key_id?: string | undefined;
  /** The client chose the run's id, which may have been used before. */
  readonly has_client_id?: boolean;
  /** Key of the request, which creates at most one run. */
  readonly idempotency_key?: IdempotencyKey | undefined;
  /** The message of an A2A client that the run answers. */
  readonly turn?: NewTurn | undefined;
  /** `reject`: refuse while another run is in flight; a `Cancellation`: cancel those; `enqueue`: wait behind them. */
  readonly others: 'reject' | 'enqueue' | Cancellation;
}

export type QueuedResult = { readonly outcome: 'queued'; readonly ready: boolean } & Omit<
  Cancelled,
  'promoted'
>;

export type EnqueueResult =
  | { readonly outcome: 'missing thread' }
  | { readonly outcome: 'run exists' }
  /** The A2A task of the message has changed since the caller read it. */
  | { readonly outcome: 'task changed' }
  | { readonly outcome: 'rejected'; readonly blocking: string[] }
  | QueuedResult;

/** What an enqueue must know of the queue. */
export type EnqueueRules = Pick<QueueContext, 'webhooks' | 'fairness' | 'revisionRule'>;

/** Inserts a run and applies the multitask strategy to the others of its thread: one transaction (ENGINE §2). */
export function enqueue({ db, ...rules }: QueueContext, request: NewRun): Promise<EnqueueResult> {
  return db.transaction('sync', (tx) => enqueueIn(tx, request, rules));
}

/** Rolls back the transaction of a batch. */
class BatchRefused extends Error {
  readonly outcomes: EnqueueResult[];

  constructor(outcomes: EnqueueResult[]) {
    super('a run of the batch is refused');
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
      const outcomes: EnqueueResult[] = [];
      for (const request of requests) {
        const outcome = await enqueueIn(tx, request, rules);
        outcomes.push(outcome);
        if (outcome.outcome !== 'queued') throw new BatchRefused(outcomes);
      }
      return outcomes;
    });
  } catch (error) {
    if (error instanceof BatchRefused) return error.outcomes;
    throw error;
  }
}

/** `enqueue` as part of a transaction. */
export async function enqueueIn(
  tx: Transaction,
  request: NewRun,
  { webhooks, fairness, revisionRule }: EnqueueRules,
): Promise<EnqueueResult> {
  const { run, others } = request;
  const thread = await lockOrCreateThread(tx, request);
  if (!thread) return { outcome: 'missing thread' };
  if (request.idempotency_key && !(await isPending(tx, request.idempotency_key)))
    return { outcome: 'run exists' };
  // A run that only waits behind the others need not read them, and there may be very many.
  const rows = others === 'enqueue' ? [] : await queuedRuns(tx, thread);
  const blocking = rows.filter((row) => row.cancel_action === null).map((row) => row.run_id);
  if (others === 'reject' && blocking.length > 0) return { outcome: 'rejected', blocking };
  if (request.turn && !(await acceptsTurn(tx, request.turn))) return { outcome: 'task changed' };
  if (request.has_client_id && (await isUsed(tx, run.run_id))) return { outcome: 'run exists' };
  // Read here: a revision that ends while a transaction waits must get nothing new.
  const rule = revisionRule?.();
  const graph_id = String(request.thread_metadata['graph_id']);
  const { thread_id } = run;
  const revision_id = rule ? await executingRevision(tx, { thread_id, graph_id }, rule) : null;
  if (!(await insertRun(tx, request))) return { outcome: 'run exists' };
  const cancelled =
    typeof others === 'string'
      ? { stopping: [], ended: [] }
      : await cancelRows(tx, thread, rows, others, webhooks);
  const hasHead = headAfter(thread, cancelled.ended);
  const isReady = await addToQueue(tx, request, { hasHead, fairness, revision_id });
  if (request.idempotency_key) await saveRun(tx, request.idempotency_key, run);
  if (request.turn) await insertTurn(tx, request.turn, run);
  return { outcome: 'queued', ready: isReady, ...cancelled };
}

function headAfter({ head }: LockedThread, ended: readonly string[]): boolean {
  return head !== undefined && !ended.includes(head.run_id);
}

const STATE = columns('run_queue', 'state');
/** Purpose of the blind index: names of users are not stored in plain text beside encrypted data. */
const OWNER = 'run_queue.owner';

/** What decides where a new run waits, and for which workers. */
interface Placement {
  readonly hasHead: boolean;
  readonly fairness: QueueContext['fairness'];
  /** What executes the run; null: whichever is active when it is claimed. */
  readonly revision_id: string | null;
}

/**
 * A run behind a head, or behind an earlier due run, is blocked; a run for later is scheduled. Returns true if a run of
 * the thread became ready: this one, or one ahead of it.
 */
async function addToQueue(
  tx: Transaction,
  { run, markers, delay_ms, priority = 0, owner = '' }: NewRun,
  { hasHead, fairness, revision_id }: Placement,
): Promise<boolean> {
  const { thread_id, run_id } = run;
  const state =
    delay_ms > 0
      ? sql`'scheduled'`
      : hasHead
        ? sql`'blocked'`
        : sql`case when exists (
    select 1 from run_queue q where q.thread_id = ${thread_id} and q.not_before <= ${NOW}) then 'blocked' else 'ready' end`;
  const stored_owner = isByOwner(fairness) ? tx.cipher.blindIndex(OWNER, owner) : null;
  const owns_thread = markers.thread_retention === 'keep' ? 0 : 1;
  const row = await tx.get(sql`
    insert into run_queue (run_id, thread_id, state, not_before, owns_thread, owner, priority, revision_id)
    values (${run_id}, ${thread_id}, ${state}, ${nowPlus(delay_ms)}, ${owns_thread}, ${stored_owner}, ${priority},
      ${revision_id})
    returning ${STATE}`);
  if (row?.state === 'ready') return true;
  return row?.state === 'blocked' && !hasHead && (await promote(tx, thread_id));
}

const METADATA = columns('threads', 'metadata');
const IS_VISIBLE = flag('is_visible');

/** Locks the thread and records its latest graph and assistant; inserts it if it is missing and `thread` is given. */
async function lockOrCreateThread(tx: Transaction, request: NewRun): Promise<LockedThread | undefined> {
  const { run, thread, thread_ttl, thread_metadata, visibility } = request;
  if (await lockThreadRow(tx, run.thread_id)) {
    const isVisible = visible(VISIBLE_THREADS, visibility) ?? raw('true');
    const found = await tx.get(sql`
      select ${METADATA}, ${isVisible} as ${IS_VISIBLE}
      from threads where thread_id = ${run.thread_id}`);
    if (!found?.is_visible) return undefined;
    const metadata = toJson({ ...JSON.parse(found.metadata), ...thread_metadata });
    tx.defer(sql`update threads set metadata = ${metadata}, updated_at = ${run.updated_at}
      where thread_id = ${run.thread_id}`);
    return withHead(tx, run.thread_id);
  }
  if (!thread) return undefined;
  // There was no row to lock, and a concurrent transaction may have inserted it.
  if (!(await insertThread(tx, thread, thread_ttl))) return lockOrCreateThread(tx, request);
  return withHead(tx, run.thread_id);
}

/** Guards against id reuse: a deleted run may have left a worker or a log, which would pass for the new run's. */
async function isUsed(tx: Transaction, run_id: string): Promise<boolean> {
  const queued = await tx.get(sql`select 1 from run_queue where run_id = ${run_id}`);
  const logged = await tx.get(sql`select 1 from run_events where run_id = ${run_id} limit 1`);
  return queued !== undefined || logged !== undefined;
}

async function insertRun(tx: Transaction, { run, markers, key_id }: NewRun): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, attempt,
      created_at, updated_at, key_id, ${MARKER_COLUMNS})
    values (${run.run_id}, ${run.thread_id}, ${run.assistant_id}, 'pending', ${toJson(run.metadata)},
      ${tx.cipher.encryptJson(KWARGS_COLUMN, toJson(run.kwargs))}, ${run.multitask_strategy}, 0, ${run.created_at}, ${run.updated_at},
      ${key_id ?? null}, ${Number(markers.is_event_streaming)}, ${Number(markers.is_of_cron)}, ${Number(markers.is_of_task)},
      ${markers.thread_retention})
    on conflict (run_id) do nothing`);
  return inserted > 0;
}
