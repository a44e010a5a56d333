/**
 * The thread, assistant and time of removed lines, so that followers of all runs in another process find them. Null in rows
 * of older servers, which expire within a minute.
 */
export const removedRunOrigins = `
alter table removed_run_logs add column thread_id {uuid};
alter table removed_run_logs add column assistant_id {uuid};
alter table removed_run_logs add column created_at {timestamp};
create index removed_run_logs_created on removed_run_logs (created_at);
`;
