import type { DialectName } from '../../sql.ts';
import { busyTable } from './queue.ts';

/**
 * Transactional outbox of webhooks. `next_at` is when a delivery is due or, while the process `worker_id` holds it
 * (`token`), when its lease expires: at once if that process is known to be gone. `shown_url` is for display: without
 * secrets. The body comes last, so that listings need not read past it.
 */
const TABLES = `
create table webhook_outbox (
  seq {identity},
  delivery_id {uuid} not null unique default {new_uuid},
  kind text not null,
  run_id {uuid},
  thread_id {uuid},
  metadata {jsonb} not null,
  url text not null,
  shown_url text not null,
  host text not null,
  headers {json} not null,
  sent_at_field text,
  lane text,
  max_tries integer,
  status text not null check (status in ('pending', 'delivered', 'dead')),
  tries integer not null default 0,
  token {uuid},
  worker_id {uuid},
  next_at {timestamp} not null,
  created_at {timestamp} not null,
  round_at {timestamp} not null,
  ended_at {timestamp},
  body text not null
){strict};
-- Which receivers have something to get, and what: by host, so that one with very much to get costs no more.
create index webhook_outbox_due on webhook_outbox (host, next_at, seq) where status = 'pending';
create index webhook_outbox_lane on webhook_outbox (lane, seq) where status = 'pending' and lane is not null;
create index webhook_outbox_status on webhook_outbox (status, seq);
create index webhook_outbox_run on webhook_outbox (run_id) where run_id is not null;
create index webhook_outbox_thread on webhook_outbox (thread_id) where thread_id is not null;
create index webhook_outbox_ended on webhook_outbox (ended_at) where ended_at is not null;
-- The claims of a process that is gone.
create index webhook_outbox_worker on webhook_outbox (worker_id, seq) where worker_id is not null;

create table webhook_attempts (
  delivery_id {uuid} not null references webhook_outbox (delivery_id) on delete cascade,
  attempt integer not null,
  started_at {timestamp} not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  answer text,
  answer_headers {json},
  primary key (delivery_id, attempt)
){strict};
`;

export const webhooks: Record<DialectName, string> = {
  sqlite: TABLES,
  postgres: TABLES + busyTable('webhook_outbox', 500),
};
