/**
 * Tasks of A2A clients. A task is a run and its follow-up runs; a turn is one message and its run. `state` is null
 * until the state after `run_id` is first read; until then the run's own status stands for it.
 */
export const a2aTasks = `
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

create table a2a_turns (
  seq {identity},
  task_id {uuid} not null references a2a_tasks (task_id) on delete cascade,
  run_id {uuid} not null,
  position integer not null,
  message {json} not null
){strict};
create index a2a_turns_task on a2a_turns (task_id, seq);
`;
