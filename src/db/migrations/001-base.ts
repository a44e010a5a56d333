/**
 * Base schema. `{…}` names are the engine's types: SQLite stores ids, JSON and timestamps as text, PostgreSQL in its
 * native types. Documents that are only returned are `{json}` (text order preserved); searched ones `{jsonb}`.
 */
export const base = `
create table assistants (
  {row_id}
  assistant_id {uuid} {key},
  graph_id text not null,
  name text not null,
  description text,
  config {json} not null,
  context {json} not null,
  metadata {jsonb} not null,
  version integer not null,
  created_at {timestamp} not null,
  updated_at {timestamp} not null
){strict};
create index assistants_graph on assistants (graph_id);

create table assistant_versions (
  assistant_id {uuid} not null references assistants (assistant_id) on delete cascade,
  version integer not null,
  graph_id text not null,
  name text not null,
  description text,
  config {json} not null,
  context {json} not null,
  metadata {jsonb} not null,
  created_at {timestamp} not null,
  primary key (assistant_id, version)
){strict};

create table threads (
  {row_id}
  thread_id {uuid} {key},
  status text not null,
  metadata {jsonb} not null,
  config {json} not null,
  error {json},
  interrupts {json},
  -- What searches know of the state without reading it (\`thread-outline.ts\`).
  outline {jsonb} not null default '{}',
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  state_updated_at {timestamp} not null,
  ttl_strategy text,
  ttl_minutes {double},
  expires_at {timestamp}
){strict};
create index threads_updated on threads (updated_at, thread_id);
create index threads_created on threads (created_at, thread_id);
create index threads_expires on threads (expires_at) where expires_at is not null;

-- Apart from the thread's row, so that listing and counting do not read whole states.
create table thread_values (
  thread_id {uuid} primary key references threads (thread_id) on delete cascade,
  value {json} not null
){strict};

create table runs (
  run_id {uuid} primary key,
  thread_id {uuid} not null references threads (thread_id) on delete cascade,
  assistant_id {uuid} not null,
  status text not null,
  metadata {jsonb} not null,
  kwargs {json} not null,
  multitask_strategy text not null,
  error {json},
  cancel_reason text,
  attempt integer not null,
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  started_at {timestamp},
  ended_at {timestamp}
){strict};
create index runs_thread on runs (thread_id, created_at);
create index runs_assistant on runs (assistant_id);

-- Narrow and hot: what waits or executes. No reference to runs, for a rolled-back run is gone before its worker is.
create table run_queue (
  seq {identity},
  run_id {uuid} not null unique,
  thread_id {uuid} not null,
  state text not null check (state in ('scheduled', 'ready', 'parked', 'running')),
  not_before {timestamp} not null,
  attempt integer not null default 0,
  lease_token {uuid},
  worker_id {uuid},
  cancel_action text,
  retry_reason text
){strict};
-- Invariant 1: one head for each thread is held by this index, not by code.
create unique index run_queue_head on run_queue (thread_id) where state in ('ready', 'running');
create index run_queue_ready on run_queue (not_before, seq) where state = 'ready';
-- Which run of a thread is next, and whether a thread is busy at all.
create index run_queue_thread on run_queue (thread_id, not_before, seq);
create index run_queue_due on run_queue (not_before) where state = 'scheduled';
create index run_queue_worker on run_queue (worker_id) where state = 'running';

-- A key stands for its request from the first one on; run or answer say what came of it, and neither that it is open.
create table idempotency_keys (
  owner text not null,
  key text not null,
  request text not null,
  run {json},
  answer {json},
  claimed_until {timestamp} not null,
  expires_at {timestamp} not null,
  primary key (owner, key)
){strict};
create index idempotency_keys_expires on idempotency_keys (expires_at);

create table workers (
  worker_id {uuid} primary key,
  host text not null,
  pid integer not null,
  version text not null,
  slots integer not null,
  started_at {timestamp} not null,
  expires_at {timestamp} not null
){strict};

create table run_events (
  run_id {uuid} not null,
  seq integer not null,
  event text not null,
  data text not null,
  primary key (run_id, seq)
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

-- When the log of an ended run may be dropped; the run itself may be gone before.
create table run_event_expiry (
  run_id {uuid} primary key,
  expires_at {timestamp} not null
){strict};
create index run_event_expiry_due on run_event_expiry (expires_at);

-- A thread's own id is a uuid; a graph that calls another may keep its state under any other.
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
  primary key (thread_id, ns, checkpoint_id, task_id, idx, superseded_by)
){strict};

-- prefix: each label with a dot behind it. index_rule: which paths a search sees, where the item says so itself.
-- indexed_by: the index that its vectors belong to. The value comes last, for it may be long.
create table store_items (
  item_id {identity},
  namespace {json} not null,
  prefix {bytewise} not null,
  key {bytewise} not null,
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  expires_at {timestamp},
  ttl_minutes {double},
  index_rule {json},
  indexed_by text,
  value {jsonb} not null,
  unique (prefix, key)
){strict};
create index store_items_expires on store_items (expires_at) where expires_at is not null;
`;
