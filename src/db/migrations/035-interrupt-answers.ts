/**
 * Who answered which interrupt, with which run: written with that run, and deleted with it. `value` and `answer` are null if
 * they are large, of which the sizes tell. `since`: since when it waited.
 */
export const interruptAnswers = `
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
