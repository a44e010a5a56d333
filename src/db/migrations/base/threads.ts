import type { DialectName } from '../../sql.ts';
import { containmentIndex } from '../containment-index.ts';

const TABLES = `
create table threads (
  {row_id}
  thread_id {uuid} {key},
  status text not null,
  metadata {jsonb} not null,
  config {json} not null,
  error {json},
  interrupts {json},
  -- What searches know of the state without reading it.
  values_summary {jsonb} not null default '{}',
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  state_updated_at {timestamp} not null,
  ttl_strategy text,
  ttl_minutes {double},
  expires_at {timestamp},
  -- Who executes its runs, where several executors share the queue. No effect once that one does not serve any more.
  executor_id {uuid},
  -- The import that writes the thread's history, until it is complete: a random id of the request.
  import_id {uuid}
){strict};
create index threads_updated on threads (updated_at, thread_id);
create index threads_created on threads (created_at, thread_id);
create index threads_state_updated on threads (state_updated_at, thread_id);
create index threads_status on threads (status);
create index threads_expires on threads (expires_at) where expires_at is not null;
-- Threads that wait for an answer, by when they began to. Few of all threads.
create index threads_waiting on threads (state_updated_at, thread_id) where status = 'interrupted';

-- Apart from the thread's row, so that listing and counting do not read whole states.
create table thread_values (
  thread_id {uuid} primary key references threads (thread_id) on delete cascade,
  value {json} not null
){strict};

-- Deleted threads whose history is still being deleted. A new thread of the same id would inherit what is left, so
-- none can be created meanwhile.
create table thread_deletions (
  thread_id {uuid} primary key,
  deleted_at {timestamp} not null
){strict};
create index thread_deletions_deleted on thread_deletions (deleted_at);
`;

const indexes = [containmentIndex('threads'), containmentIndex('threads', 'values_summary')];

export const threads: Record<DialectName, string> = {
  sqlite: TABLES + indexes.map(({ sqlite }) => sqlite).join(''),
  postgres: TABLES + indexes.map(({ postgres }) => postgres).join(''),
};
