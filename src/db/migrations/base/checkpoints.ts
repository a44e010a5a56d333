/** Graph state. A thread's own id is a uuid; a graph that calls another may keep its state under any other. */
export const checkpoints = `
create table checkpoints (
  thread_id text not null,
  ns text not null,
  checkpoint_id {bytewise} not null,
  parent_id {bytewise},
  run_id {uuid},
  checkpoint {json} not null,
  versions {json} not null,
  metadata {jsonb} not null,
  primary key (thread_id, ns, checkpoint_id)
){strict};
create index checkpoints_run on checkpoints (run_id) where run_id is not null;

-- A channel's value, once for each version. A list that only grew keeps what was appended and names the version it
-- appends to.
create table checkpoint_blobs (
  thread_id text not null,
  ns text not null,
  channel text not null,
  version text not null,
  base_version text,
  appends integer not null,
  type text not null,
  value {bytes} not null,
  primary key (thread_id, ns, channel, version)
){strict};

-- superseded_by: the run that wrote this again, so that it can be taken back with the run; '' for what counts.
-- task_path: the place of the writing task in its graph; '' for writes without a task.
create table checkpoint_writes (
  thread_id text not null,
  ns text not null,
  checkpoint_id {bytewise} not null,
  task_id {bytewise} not null,
  idx integer not null,
  channel text not null,
  type text not null,
  value {bytes} not null,
  run_id {uuid},
  superseded_by text not null default '',
  task_path text not null default '',
  primary key (thread_id, ns, checkpoint_id, task_id, idx, superseded_by)
){strict};
`;
