/**
 * `worker_id`: the process that holds the claim of a delivery, so that it comes back as soon as that process is known to
 * be gone, and not when the claim expires.
 */
export const deliveryWorkers = `
alter table webhook_outbox add column worker_id {uuid};
create index webhook_outbox_worker on webhook_outbox (worker_id) where worker_id is not null;
`;
