/**
 * Lines of runs that were removed at their end, for those who follow them in other processes: rows of `run_logs`, with the
 * time at which they expire, and without the run.
 */
export const removedRunLogs = `
create table removed_run_logs (
  run_id {uuid} not null,
  seq integer not null,
  attempt integer not null,
  expires_at {timestamp} not null,
  data text not null,
  primary key (run_id, seq)
){strict}{without_rowid};
create index removed_run_logs_expires on removed_run_logs (expires_at);
`;
