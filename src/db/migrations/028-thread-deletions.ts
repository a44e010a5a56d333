/**
 * Threads that are gone, with their runs, and whose history is still being deleted. Nobody may create a thread of the same
 * id meanwhile: it would inherit what is left.
 */
export const threadDeletions = `
create table thread_deletions (
  thread_id {uuid} primary key,
  deleted_at {timestamp} not null
){strict};
create index thread_deletions_deleted on thread_deletions (deleted_at);
`;
