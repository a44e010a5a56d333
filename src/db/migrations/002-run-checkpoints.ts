/** Positions of a run's checkpoints in its event log; deleted with the log. */
export const runCheckpoints = `
create table run_checkpoints (
  run_id {uuid} not null,
  checkpoint_id {bytewise} not null,
  seq integer not null,
  primary key (run_id, checkpoint_id)
){strict}{without_rowid};
`;
