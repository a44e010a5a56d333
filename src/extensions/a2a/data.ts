import type { JsonText } from '../../db/json.ts';
import type { OwnedData } from '../../storage/owned-data.ts';
import type {} from './tables.ts';

declare module '../../db/column-types.ts' {
  interface ColumnTypes {
    'a2a_tasks.artifacts': JsonText<unknown[]>;
    'a2a_turns.is_stored': 0 | 1;
  }
}

/**
 * Tasks of A2A clients. A task is a run and its follow-up runs; a turn is one message and its run. `state` is null
 * until the state after `run_id` is first read; until then the run's own status stands for it. `is_stored` is 0 until the
 * output of a turn's events is stored in its task: until then the turn's log is retained. `a2a_push_configs`: targets of
 * a task's push notifications; `version`: their protocol version.
 */
const BASE = `
create table a2a_tasks (
  task_id {uuid} primary key,
  thread_id {uuid} not null references threads (thread_id) on delete cascade,
  assistant_id {uuid} not null,
  context_id text not null,
  run_id {uuid} not null,
  state text,
  state_at {timestamp},
  reason text,
  artifacts {json} not null,
  created_at {timestamp} not null
){strict};
create index a2a_tasks_thread on a2a_tasks (thread_id);
create index a2a_tasks_assistant on a2a_tasks (assistant_id);
create index a2a_tasks_unsettled on a2a_tasks (run_id) where state is null;
create index a2a_tasks_state on a2a_tasks (state, run_id);

create table a2a_turns (
  seq {identity},
  task_id {uuid} not null references a2a_tasks (task_id) on delete cascade,
  run_id {uuid} not null,
  position integer not null,
  is_stored integer not null default 1,
  message {json} not null
){strict};
create index a2a_turns_task on a2a_turns (task_id, seq);
create index a2a_turns_unstored on a2a_turns (run_id) where is_stored = 0;

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
`;

export const data: OwnedData = {
  name: 'a2a',
  migrations: [{ version: 1, name: 'base', expands: true, text: BASE }],
  encrypted: [
    { table: 'a2a_tasks', key: ['task_id'], columns: { reason: 'text', artifacts: 'json' } },
    {
      table: 'a2a_push_configs',
      key: ['task_id', 'config_id'],
      columns: { url: 'text', token: 'text', scheme: 'text', credentials: 'text' },
    },
    { table: 'a2a_turns', key: ['seq'], columns: { message: 'json' } },
  ],
  keeps_log: `exists (
    select 1 from a2a_turns u join a2a_tasks t on t.task_id = u.task_id join runs r on r.run_id = t.run_id
    where u.run_id = e.run_id and u.is_stored = 0)`,
};
