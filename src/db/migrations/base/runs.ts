import type { DialectName } from '../../sql.ts';

/**
 * `is_event_streaming` to `thread_retention`: the server's own decisions about a run, apart from `kwargs`, which clients
 * write and may be encrypted. `assistant_name`, `assistant_version`: as they were when the run was created; traces name
 * them. `announces_end`: a rider of the queue follows its end. `key_id`: the API key that created the run. `executor_id`: the
 * executor of the last attempt, where several share the queue.
 */
const RUNS = `
create table runs (
  run_id {uuid} primary key,
  thread_id {uuid} not null references threads (thread_id) on delete cascade,
  assistant_id {uuid} not null,
  assistant_name text not null,
  assistant_version integer not null,
  status text not null,
  metadata {jsonb} not null,
  kwargs {json} not null,
  multitask_strategy text not null,
  is_event_streaming integer not null default 0,
  is_of_cron integer not null default 0,
  thread_retention text not null default 'keep'
    check (thread_retention in ('keep', 'keep_interrupted', 'delete')),
  announces_end integer not null default 0,
  key_id text,
  executor_id {uuid},
  error {json},
  cancel_reason text,
  attempt integer not null,
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  started_at {timestamp},
  ended_at {timestamp}
){strict};
create index runs_thread on runs (thread_id, created_at);
-- Few of the runs of a thread, and those that are looked for.
create index runs_ended_badly on runs (thread_id, created_at) where status in ('error', 'timeout', 'interrupted');
-- Lists over all threads, newest first. New entries come last, so that inserting a run changes one page of each index.
create index runs_created on runs (created_at, run_id);
create index runs_assistant_created on runs (assistant_id, created_at, run_id);
-- How the newest runs ended, from the index alone.
create index runs_ended on runs (ended_at, status) where ended_at is not null;
`;

/** `columns`: with what else is asked of these runs, so that a search reads few of them. */
const failed = (columns: string) => `
create index runs_failed_created on runs ${columns} where status in ('error', 'timeout', 'interrupted');
`;

/**
 * What runs did: their attempts, and in them each node and each call of a model or a tool. `parent`: number of the step
 * that holds it; `superstep`: its number in its graph. Written under the lease of the attempt, with the checkpoint that
 * holds the result. `resumed_from_run_id`: the interrupted run that the attempt resumed. `contents`: what a step was given
 * and returned, last because most readers leave it out. `texts`: the numbers of those in `step_texts` that belong to it.
 *
 * `step_texts`: messages and tools that models were given, once for each thread, however many calls have them; numbered in
 * each thread from 1. `hash`: of `data`, blind if that is encrypted. Deleted with the last run that has them; like
 * checkpoints without a foreign key, to be deleted in batches.
 */
const STEPS = `
create table run_attempts (
  run_id {uuid} not null references runs (run_id) on delete cascade,
  attempt integer not null,
  worker_id {uuid} not null,
  resumed_from_run_id {uuid},
  started_at {timestamp} not null,
  ended_at {timestamp},
  status text not null,
  primary key (run_id, attempt)
){strict}{without_rowid};

create table run_steps (
  run_id {uuid} not null references runs (run_id) on delete cascade,
  attempt integer not null,
  number integer not null,
  parent integer,
  kind text not null,
  name text not null,
  node text,
  namespace text not null,
  task_id text,
  superstep integer,
  checkpoint_id text,
  started_at {timestamp} not null,
  ended_at {timestamp} not null,
  status text not null,
  error {json},
  model text,
  provider text,
  tokens_in integer,
  tokens_cached integer,
  tokens_out integer,
  cost {double},
  texts {json},
  contents text,
  primary key (run_id, attempt, number)
){strict}{without_rowid};

create table step_texts (
  thread_id text not null,
  number integer not null,
  hash text not null,
  data text not null,
  primary key (thread_id, number)
){strict};
create index step_texts_hash on step_texts (thread_id, hash);
`;

/**
 * What the code of runs printed, newest lines only. A row has the lines of one commit: a run that prints one line at a
 * time would otherwise need as many rows. `seq`: the number of the last one, from 1 for each run; numbers are left out
 * for lines that were dropped. `data`: JSON list. `removed_run_logs`: the lines of runs that were deleted at their end,
 * for followers in other processes.
 */
const LOGS = `
create table run_logs (
  run_id {uuid} not null references runs (run_id) on delete cascade,
  seq integer not null,
  attempt integer not null,
  created_at {timestamp} not null,
  data text not null,
  primary key (run_id, seq)
){strict}{without_rowid};
create index run_logs_created on run_logs (created_at);

create table removed_run_logs (
  run_id {uuid} not null,
  seq integer not null,
  thread_id {uuid} not null,
  assistant_id {uuid} not null,
  attempt integer not null,
  created_at {timestamp} not null,
  expires_at {timestamp} not null,
  data text not null,
  primary key (run_id, seq)
){strict}{without_rowid};
create index removed_run_logs_expires on removed_run_logs (expires_at);
create index removed_run_logs_created on removed_run_logs (created_at);
`;

/**
 * Who answered which interrupt, with which run: written with that run, and deleted with it. `value` and `answer` are null
 * above the size limit; see the size columns. `since`: when the wait began.
 */
const ANSWERS = `
create table interrupt_answers (
  answer_id {bytewise} primary key,
  run_id {uuid} not null references runs (run_id) on delete cascade,
  thread_id {uuid} not null,
  assistant_id {uuid} not null,
  interrupt_id text not null,
  task_id text not null,
  since {timestamp} not null,
  created_at {timestamp} not null,
  user_id text,
  key_id text,
  value {json},
  value_bytes integer not null,
  answer {json},
  answer_bytes integer not null
){strict};
create index interrupt_answers_created on interrupt_answers (created_at, answer_id);
create index interrupt_answers_thread on interrupt_answers (thread_id);
create index interrupt_answers_run on interrupt_answers (run_id);
`;

const REST = STEPS + LOGS + ANSWERS;

export const runs: Record<DialectName, string> = {
  sqlite: RUNS + failed('(created_at, run_id, status, assistant_id, thread_id)') + REST,
  // Only included: as a key column, PostgreSQL would look up threads in it while its statistics are those of few runs.
  postgres: RUNS + failed('(created_at, run_id) include (status, assistant_id, thread_id)') + REST,
};
