/**
 * What recovery decides by. `failures`: attempts in a row that ended without progress through no decision of the server,
 * such as the loss of a worker; `losses`: all workers this run lost. `supersteps`: checkpoints of the run at its last
 * loss, so that the next loss can tell whether the attempt made progress. `batches`: how many batches of the current
 * attempt are stored; the next one names its predecessor. `owns_thread`: the run made its thread for itself, and whoever
 * ends it removes it. `worker_id`: the process that answers the request of a key.
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
