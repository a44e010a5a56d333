import type { DialectName } from '../sql.ts';
import { containmentIndex } from './containment-index.ts';

/**
 * Columns and states get the names that the code has for them: `threads.values_summary`, `a2a_turns.is_stored`, and
 * `blocked` for a run that is due behind another one of its thread. An index that a newer one covers is dropped. It locks
 * several busy tables: no server works beside it, since all earlier ones need the old names.
 */
const NAMES = `
alter table a2a_turns rename column is_kept to is_stored;
drop index a2a_turns_unkept;
create index a2a_turns_unstored on a2a_turns (run_id) where is_stored = 0;
drop index runs_assistant;
drop index run_queue_parked;
`;

/** SQLite changes the condition on a column only with its table. The sequence goes on, or a run would be overtaken. */
const QUEUE_ON_SQLITE = `
create table run_queue_renamed (
  seq {identity},
  run_id {uuid} not null unique,
  thread_id {uuid} not null,
  state text not null check (state in ('scheduled', 'ready', 'blocked', 'running')),
  not_before {timestamp} not null,
  attempt integer not null default 0,
  lease_token {uuid},
  worker_id {uuid},
  cancel_action text,
  retry_reason text,
  failures integer not null default 0,
  losses integer not null default 0,
  supersteps integer not null default 0,
  batches integer not null default 0,
  owns_thread integer not null default 0,
  owner text,
  priority integer not null default 0,
  revision_id {uuid}
){strict};
insert into run_queue_renamed
  select seq, run_id, thread_id, case state when 'parked' then 'blocked' else state end, not_before, attempt, lease_token,
    worker_id, cancel_action, retry_reason, failures, losses, supersteps, batches, owns_thread, owner, priority, revision_id
  from run_queue;
delete from sqlite_sequence where name = 'run_queue_renamed';
insert into sqlite_sequence (name, seq) select 'run_queue_renamed', seq from sqlite_sequence where name = 'run_queue';
drop table run_queue;
alter table run_queue_renamed rename to run_queue;
create unique index run_queue_head on run_queue (thread_id) where state in ('ready', 'running');
create index run_queue_ready on run_queue (not_before, seq) where state = 'ready';
create index run_queue_thread on run_queue (thread_id, not_before, seq);
create index run_queue_due on run_queue (not_before) where state = 'scheduled';
create index run_queue_worker on run_queue (worker_id) where state = 'running';
create index run_queue_owner on run_queue (owner, not_before, seq) where state = 'ready' and owner is not null;
create index run_queue_owner_running on run_queue (owner) where state = 'running' and owner is not null;
create index run_queue_priority on run_queue (priority desc, not_before, seq) where state = 'ready';
create index run_queue_owner_priority on run_queue (owner, priority desc, not_before, seq)
  where state = 'ready' and owner is not null;
`;

const SUMMARY_ON_SQLITE = `
drop trigger threads_outline_terms_insert;
drop trigger threads_outline_terms_update;
drop trigger threads_outline_terms_delete;
drop table threads_outline_terms;
alter table threads rename column outline to values_summary;
${containmentIndex('threads', 'values_summary').sqlite}`;

const QUEUE_ON_POSTGRES = `
alter table run_queue drop constraint run_queue_state_check;
update run_queue set state = 'blocked' where state = 'parked';
alter table run_queue add constraint run_queue_state_check check (state in ('scheduled', 'ready', 'blocked', 'running'));
`;

const SUMMARY_ON_POSTGRES = `
drop index threads_outline;
alter table threads rename column outline to values_summary;
${containmentIndex('threads', 'values_summary').postgres}`;

const BLOCKED = `
create index run_queue_blocked on run_queue (not_before) where state = 'blocked';
`;

export const standardNames: Record<DialectName, string> = {
  sqlite: NAMES + QUEUE_ON_SQLITE + SUMMARY_ON_SQLITE + BLOCKED,
  postgres: NAMES + QUEUE_ON_POSTGRES + SUMMARY_ON_POSTGRES + BLOCKED,
};
