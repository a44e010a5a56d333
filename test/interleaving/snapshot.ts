import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import type { CancelAction, RunStatus } from '../../src/schemas/runs.ts';
import type { RetryReason } from '../../src/storage/queue/position.ts';
import type { QueueRow as Place } from '../../src/storage/runs/thread-lock.ts';

export interface QueuedRun {
  readonly run_id: string;
  readonly thread_id: string;
  readonly state: Place['state'];
  readonly cancel_action: CancelAction | null;
  readonly lease_token: string | null;
  readonly worker_id: string | null;
  readonly not_before: string;
  readonly seq: number;
  readonly retry_reason: RetryReason | null;
}

export interface StoredRun {
  readonly run_id: string;
  readonly thread_id: string;
  readonly status: RunStatus;
  readonly started: number;
  readonly error: string | null;
}

export interface LogEntry {
  readonly thread_id: string;
  readonly run_id: string;
  readonly base: number;
  readonly length: number | null;
}

export interface RunLog {
  readonly run_id: string;
  readonly events: number;
  readonly first: number;
  readonly last: number;
  readonly ends: number;
  /** Of its `__end__`; null without one. */
  readonly end: number | null;
  /** Somebody will drop it. */
  readonly expires: number;
}

export interface StoredCheckpoint {
  readonly thread_id: string;
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly run_id: string | null;
  readonly source: string;
}

/** Everything that a commit can change, as it is after one. */
export interface Snapshot {
  readonly queue: readonly QueuedRun[];
  readonly runs: readonly StoredRun[];
  readonly threads: readonly { readonly thread_id: string }[];
  /** By thread and `base`. */
  readonly log: readonly LogEntry[];
  readonly events: readonly RunLog[];
  readonly webhooks: readonly { readonly run_id: string; readonly sent: number }[];
  readonly fires: readonly {
    readonly run_id: string | null;
    readonly outcome: string;
    readonly status: RunStatus | null;
  }[];
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly workers: readonly { readonly worker_id: string; readonly expires_at: string }[];
}

export const EMPTY: Snapshot = {
  queue: [],
  runs: [],
  threads: [],
  log: [],
  events: [],
  webhooks: [],
  fires: [],
  checkpoints: [],
  workers: [],
};

const QUERIES: Record<keyof Snapshot, string> = {
  queue: `select run_id, thread_id, state, cancel_action, lease_token, worker_id, not_before, seq, retry_reason
    from run_queue`,
  runs: `select run_id, thread_id, status, cast(error as text) as error, case when started_at is null then 0 else 1 end as started from runs`,
  threads: 'select thread_id from threads',
  log: 'select thread_id, run_id, base, length from thread_log order by thread_id, base',
  events: `select e.run_id, count(*) as events, min(seq) as first, max(seq) as last,
    sum(case when event = '__end__' then 1 else 0 end) as ends, max(case when event = '__end__' then seq end) as "end",
    (select count(*) from run_event_expiry x where x.run_id = e.run_id) as expires from run_events e group by e.run_id`,
  webhooks: 'select run_id, count(*) as sent from webhook_outbox group by run_id',
  fires: 'select run_id, outcome, status from cron_fires',
  checkpoints: `select thread_id, checkpoint_id, parent_id, run_id, metadata ->> 'source' as source from checkpoints`,
  workers: 'select worker_id, expires_at from workers',
};
const PARTS = Object.entries(QUERIES) as [keyof Snapshot, string][];

const IN_ONE = raw(
  `select json_build_object(${PARTS.map(
    ([name, query]) => `'${name}', (select coalesce(json_agg(q), '[]') from (${query}) q)`,
  ).join(', ')}) as snapshot`,
);

export async function snapshotOf(db: Db): Promise<Snapshot> {
  if (db.dialect === 'postgres') {
    const row = (await db.get(IN_ONE)) as { snapshot: string };
    return JSON.parse(row.snapshot);
  }
  const parts = PARTS.map(async ([name, query]) => [name, await db.all(raw(query))]);
  return Object.fromEntries(await Promise.all(parts));
}

/** All events, by run: the data of each. */
export async function eventsOf(db: Db): Promise<Map<string, string[]>> {
  const rows = await db.all(
    sql`select ${columns('run_events', 'run_id, data')} from run_events order by run_id, seq`,
  );
  const events = new Map<string, string[]>();
  for (const { run_id, data } of rows) events.set(run_id, [...(events.get(run_id) ?? []), data]);
  return events;
}
