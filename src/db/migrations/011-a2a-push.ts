/**
 * Push notification targets of a task (`a2a_push_configs`; `version`: their protocol version). `is_kept` is 0 until the
 * output of a turn's events is stored in its task: until then the turn's log is retained.
 */
export const a2aPush = `
create table a2a_push_configs (
  task_id {uuid} not null references a2a_tasks (task_id) on delete cascade,
  config_id text not null,
  version text not null check (version in ('0.3', '1.0')),
  url text not null,
  token text,
  scheme text,
  credentials text,
  created_at {timestamp} not null,
  primary key (task_id, config_id)
){strict};

alter table a2a_turns add column is_kept integer not null default 1;
create index a2a_turns_unkept on a2a_turns (run_id) where is_kept = 0;
create index a2a_tasks_unsettled on a2a_tasks (run_id) where state is null;
create index a2a_tasks_waiting on a2a_tasks (run_id)
  where state in ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED');
`;
