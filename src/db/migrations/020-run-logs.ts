/**
 * What the code of runs printed, newest lines only. A row has the lines of one commit: a run that prints one line at a
 * time would otherwise need as many rows. `seq`: the number of the last one, from 1 for each run; numbers are left out
 * for lines that were dropped. `data`: JSON list.
 */
export const runLogs = `
create table run_logs (
  run_id {uuid} not null references runs (run_id) on delete cascade,
  seq integer not null,
  attempt integer not null,
  created_at {timestamp} not null,
  data text not null,
  primary key (run_id, seq)
){strict}{without_rowid};
create index run_logs_created on run_logs (created_at);
`;
