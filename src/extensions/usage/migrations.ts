import type { OwnedData } from '../../storage/owned-data.ts';
import type {} from './tables.ts';

/** What each of the tables counts. */
const sums = `calls integer not null,
  unpriced_calls integer not null,
  tokens_in {double} not null,
  tokens_cached {double} not null,
  tokens_out {double} not null,
  cost_nanos {double} not null,`;

/**
 * What runs used of models. `usage_entries`: a row for each run, model and day, which its attempts write; no two runs
 * share one. `usage_days`: the entries of ended runs, summed up; `usage_totals`: the same over all users. None of these refers
 * to runs or threads: usage outlives them. `usage_runs`: the sum of a run, for as long as it exists.
 * `cost_nanos`: in billionths of the configured currency, whole numbers, whose sums are exact in any order.
 */
const USAGE = `
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

create table usage_runs (
  run_id {uuid} not null references runs (run_id) on delete cascade,
  ${sums}
  primary key (run_id)
){strict}{without_rowid};

create index usage_days_by_user on usage_days (user_id, day);
`;

/**
 * `usage_key_entries`: as `usage_entries`, for runs with an API key, which have no rows there. `usage_keys`: the part of
 * `usage_days` that was used with a key; the rest was used without one. The table of days has one row for all keys.
 */
const KEYS = `
create table usage_key_entries (
  run_id {uuid} not null,
  model text not null,
  day text not null,
  assistant_id {uuid} not null,
  user_id text not null,
  key_id text not null,
  ${sums}
  primary key (run_id, model, day)
){strict}{without_rowid};

create table usage_keys (
  day text not null,
  assistant_id {uuid} not null,
  user_id text not null,
  key_id text not null,
  model text not null,
  ${sums}
  primary key (day, assistant_id, user_id, key_id, model)
){strict}{without_rowid};
`;

/**
 * `budget_runs`: what a run in flight has used so far, in all of its attempts. `budget_threads`: what all runs of a thread
 * have used, `budget_sums`: those of a user, a key or the server on one day, while a budget for it is configured; `subject`
 * is empty for the server.
 */
const BUDGETS = `
create table budget_runs (
  run_id {uuid} primary key,
  tokens {double} not null,
  cost_nanos {double} not null,
  steps {double} not null
){strict};

create table budget_threads (
  thread_id {uuid} primary key references threads (thread_id) on delete cascade,
  tokens {double} not null,
  cost_nanos {double} not null,
  steps {double} not null
){strict};

create table budget_sums (
  scope text not null check (scope in ('user_day', 'key_day', 'day')),
  subject text not null,
  day text not null,
  tokens {double} not null,
  cost_nanos {double} not null,
  steps {double} not null,
  primary key (scope, subject, day)
){strict}{without_rowid};

create index budget_sums_day on budget_sums (day);
`;

export const DATA: OwnedData = {
  name: 'usage',
  migrations: [{ version: 1, name: 'base', text: USAGE + KEYS + BUDGETS, expands: true }],
};
