/**
 * Recovery state. `failures`: consecutive attempts that ended without progress and not by the server's decision, such
 * as the loss of a worker; `losses`: all workers that this run lost. `supersteps`: checkpoints of the run at its last
 * loss, by which the next loss detects progress. `batches`: stored batches of the current attempt; the next one names
 * its predecessor. `owns_thread`: the run created its thread, and its end deletes it. `worker_id`: the process that
 * answers the request of an idempotency key.
 */
export const queueRecovery = `
alter table run_queue add column failures integer not null default 0;
alter table run_queue add column losses integer not null default 0;
alter table run_queue add column supersteps integer not null default 0;
alter table run_queue add column batches integer not null default 0;
alter table run_queue add column owns_thread integer not null default 0;
create index run_queue_parked on run_queue (not_before) where state = 'parked';
alter table idempotency_keys add column worker_id {uuid};
`;
