/**
 * `worker_id`: the process that holds the claim of a delivery, so that it comes back as soon as that process is known to
 * be gone, and not when the claim expires. `worker_token`: the token of that claim; if it is not the delivery's, a release
 * without these columns has claimed the delivery since. The index has all that looking for such claims reads.
 */
export const deliveryWorkers = `
alter table webhook_outbox add column worker_id {uuid};
alter table webhook_outbox add column worker_token {uuid};
create index webhook_outbox_worker on webhook_outbox (worker_id, worker_token, token, seq) where worker_id is not null;
`;
