/**
 * Runs with a higher `priority` are claimed first, among all runs or, with fairness by owner, among those of their owner.
 * `run_queue_ready` and `run_queue_owner` stay for claims by age.
 */
export const runPriority = `
alter table run_queue add column priority integer not null default 0;
create index run_queue_priority on run_queue (priority desc, not_before, seq) where state = 'ready';
create index run_queue_owner_priority on run_queue (owner, priority desc, not_before, seq)
  where state = 'ready' and owner is not null;
`;
