import type { DialectName } from '../../sql.ts';

/**
 * What waits or executes: narrow and hot. No reference to runs, because a rolled-back run is deleted before its worker
 * stops. `failures`: consecutive attempts that ended without progress and not by the server's decision, such as the loss of
 * a worker; `losses`: all workers that this run lost; `host_losses`: all graph hosts whose end it may have caused.
 * `supersteps`: checkpoints of the run at its last loss, so that the next loss detects progress. `batches`: stored batches
 * of the current attempt; the next one names its predecessor.
 * `owns_thread`: the run created its thread, and its end deletes it. `owner`: whose turn it uses, null without fairness by
 * owner. `priority`: higher ones are claimed first, among all runs or among those of their owner. `executor_id`: the only
 * one that may execute the run, where several share the queue.
 */
const QUEUE = `
create table run_queue (
  seq {identity},
  run_id {uuid} not null unique,
  thread_id {uuid} not null,
  state text not null check (state in ('scheduled', 'ready', 'blocked', 'running')),
  not_before {timestamp} not null,
  priority integer not null default 0,
  owner text,
  executor_id {uuid},
  attempt integer not null default 0,
  lease_token {uuid},
  worker_id {uuid},
  cancel_action text,
  retry_reason text,
  failures integer not null default 0,
  losses integer not null default 0,
  host_losses integer not null default 0,
  supersteps integer not null default 0,
  batches integer not null default 0,
  owns_thread integer not null default 0
){strict};
-- Invariant 1: this index ensures one head for each thread, not code.
create unique index run_queue_head on run_queue (thread_id) where state in ('ready', 'running');
-- Which run of a thread is next, and whether a thread is busy at all.
create index run_queue_thread on run_queue (thread_id, not_before, seq);
create index run_queue_due on run_queue (not_before) where state = 'scheduled';
create index run_queue_blocked on run_queue (not_before) where state = 'blocked';
create index run_queue_worker on run_queue (worker_id) where state = 'running';
-- Claims by age and by priority, over all runs or for one owner.
create index run_queue_ready on run_queue (not_before, seq) where state = 'ready';
create index run_queue_priority on run_queue (priority desc, not_before, seq) where state = 'ready';
create index run_queue_owner on run_queue (owner, not_before, seq) where state = 'ready' and owner is not null;
create index run_queue_owner_priority on run_queue (owner, priority desc, not_before, seq)
  where state = 'ready' and owner is not null;
create index run_queue_owner_running on run_queue (owner) where state = 'running' and owner is not null;
`;

/** `graph_ids`: the graphs that a live process serves, as a JSON list. `worker_details` is apart: `workers` is busy. */
const WORKERS = `
create table workers (
  worker_id {uuid} primary key,
  host text not null,
  pid integer not null,
  version text not null,
  slots integer not null,
  graph_ids {json} not null,
  started_at {timestamp} not null,
  expires_at {timestamp} not null
){strict};

create table worker_details (
  worker_id {uuid} primary key,
  role text not null,
  hosts integer not null
){strict};
`;

/**
 * A key stands for its request from the first one on; `run` or `answer` is its result, and neither means that it is
 * open. `worker_id`: the process that answers the request.
 */
const IDEMPOTENCY = `
create table idempotency_keys (
  owner text not null,
  key text not null,
  request text not null,
  worker_id {uuid},
  run {json},
  answer {json},
  claimed_until {timestamp} not null,
  expires_at {timestamp} not null,
  primary key (owner, key)
){strict};
create index idempotency_keys_expires on idempotency_keys (expires_at);
`;

/**
 * For small tables whose rows change all the time: free space in their pages lets an update stay in its page, and they are
 * vacuumed after some hundred dead rows instead of a fifth of the table.
 */
export const busyTable = (table: string, threshold: number) => `
alter table ${table} set (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = ${threshold},
  autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = ${threshold}, autovacuum_vacuum_cost_delay = 0
);
`;

const TABLES = QUEUE + WORKERS + IDEMPOTENCY;

export const queue: Record<DialectName, string> = {
  sqlite: TABLES,
  postgres: TABLES + busyTable('run_queue', 500) + busyTable('workers', 50),
};
