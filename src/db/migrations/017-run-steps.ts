/**
 * What runs did: their attempts, and in them each node and each call of a model or a tool. `parent`: number of the step
 * that holds it; `superstep`: its number in its graph. Written under the lease of the attempt, with the checkpoint that
 * holds the result.
 */
export const runSteps = `
create table run_attempts (
  run_id {uuid} not null references runs (run_id) on delete cascade,
  attempt integer not null,
  worker_id {uuid} not null,
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
  primary key (run_id, attempt, number)
){strict}{without_rowid};
`;
