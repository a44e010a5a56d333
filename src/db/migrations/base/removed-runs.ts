/**
 * What a list shows of runs that were deleted at their end with the thread that they had made for themselves, for an hour:
 * neither metadata nor anything that they were given or returned. The sums are those of their calls of models.
 */
export const removedRuns = `
create table removed_runs (
  run_id {uuid} primary key,
  thread_id {uuid} not null,
  assistant_id {uuid} not null,
  status text not null,
  multitask_strategy text not null,
  error {json},
  cancel_reason text,
  created_at {timestamp} not null,
  started_at {timestamp} not null,
  ended_at {timestamp} not null,
  calls integer not null,
  unpriced_calls integer not null,
  tokens_in {double} not null,
  tokens_cached {double} not null,
  tokens_out {double} not null,
  cost {double} not null
){strict};
create index removed_runs_created on removed_runs (created_at, run_id);
`;
