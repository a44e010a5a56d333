const SUMS = `calls integer not null,
  unpriced_calls integer not null,
  tokens_in {double} not null,
  tokens_cached {double} not null,
  tokens_out {double} not null,
  cost_nanos {double} not null,`;

/**
 * `runs.key_id`: the API key that created the run; null without one, and in earlier rows.
 * `usage_key_entries`: as `usage_entries`, for runs with a key, which have no rows there. `usage_keys`: the part of
 * `usage_days` that was used with a key; the rest had none. The table of days has one row for all keys.
 * `budget_runs`: what a run in flight has used so far, in all of its attempts. `budget_sums`: what all runs of a thread,
 * or of one day those of a user, a key or the server have used, while a budget for it is configured; `day` is empty for
 * a thread, `subject` for the server.
 */
export const budgets = `
alter table runs add column key_id text;

create table usage_key_entries (
  run_id {uuid} not null,
  model text not null,
  day text not null,
  assistant_id {uuid} not null,
  user_id text not null,
  key_id text not null,
  ${SUMS}
  primary key (run_id, model, day)
){strict}{without_rowid};

create table usage_keys (
  day text not null,
  assistant_id {uuid} not null,
  user_id text not null,
  key_id text not null,
  model text not null,
  ${SUMS}
  primary key (day, assistant_id, user_id, key_id, model)
){strict}{without_rowid};

create table budget_runs (
  run_id {uuid} primary key,
  tokens {double} not null,
  cost_nanos {double} not null,
  steps {double} not null
){strict};

create table budget_sums (
  scope text not null check (scope in ('thread', 'user_day', 'key_day', 'day')),
  subject text not null,
  day text not null,
  tokens {double} not null,
  cost_nanos {double} not null,
  steps {double} not null,
  primary key (scope, subject, day)
){strict}{without_rowid};

create index budget_sums_day on budget_sums (day) where day <> '';
`;
