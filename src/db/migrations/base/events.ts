/**
 * Event logs. `run_checkpoints`: positions of a run's checkpoints in its log; deleted with the log. `run_event_expiry`:
 * when the log of an ended run may be dropped; the run itself may be gone before.
 */
export const events = `
create table run_events (
  run_id {uuid} not null,
  seq integer not null,
  event text not null,
  data text not null,
  primary key (run_id, seq)
){strict}{without_rowid};

create table run_checkpoints (
  run_id {uuid} not null,
  checkpoint_id {bytewise} not null,
  seq integer not null,
  primary key (run_id, checkpoint_id)
){strict}{without_rowid};

-- The events of a thread over all its runs: those of the run that began at \`base\` are base + 1, base + 2, ... One row
-- a run and not one an event. length is null until the run has ended, and stays when its events are dropped.
create table thread_log (
  thread_id {uuid} not null,
  base integer not null,
  run_id {uuid} not null,
  length integer,
  primary key (thread_id, base)
){strict}{without_rowid};

create table run_event_expiry (
  run_id {uuid} primary key,
  expires_at {timestamp} not null
){strict};
create index run_event_expiry_due on run_event_expiry (expires_at);
`;
