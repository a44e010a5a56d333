/**
 * Of removed lines: of which run they are, and when they were stored, for who follows the lines of all runs in another
 * process. Null in rows of servers that do not know these columns: they expire within a minute.
 */
export const removedRunOrigins = `
alter table removed_run_logs add column thread_id {uuid};
alter table removed_run_logs add column assistant_id {uuid};
alter table removed_run_logs add column created_at {timestamp};
create index removed_run_logs_created on removed_run_logs (created_at);
`;
