/** What each of the tables counts. */
const sums = `calls integer not null,
  unpriced_calls integer not null,
  tokens_in {double} not null,
  tokens_cached {double} not null,
  tokens_out {double} not null,
  cost_nanos {double} not null,`;

/**
 * What runs used of models. `usage_entries`: a row for each run, model and day, which its attempts write; no two runs
 * share one. `usage_days`: the entries of ended runs, summed up; `usage_totals`: the same over all users. None refers to
 * runs or threads: usage outlives them.
 * `cost_nanos`: in billionths of the configured currency, whole numbers, whose sums are exact in any order.
 */
export const usage = `
create table usage_entries (
  run_id {uuid} not null,
  model text not null,
  day text not null,
  assistant_id {uuid} not null,
  user_id text not null,
  ${sums}
  primary key (run_id, model, day)
){strict}{without_rowid};

create table usage_days (
  day text not null,
  assistant_id {uuid} not null,
  user_id text not null,
  model text not null,
  ${sums}
  primary key (day, assistant_id, user_id, model)
){strict}{without_rowid};

create table usage_totals (
  day text not null,
  assistant_id {uuid} not null,
  model text not null,
  ${sums}
  primary key (day, assistant_id, model)
){strict}{without_rowid};

create index usage_days_by_user on usage_days (user_id, day);
`;
