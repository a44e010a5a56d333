/**
 * The server's own decisions about a run, apart from `kwargs`, which clients write and may be encrypted. Null in
 * earlier rows, including those that an older server still adds: `storage/runs/markers.ts` reads theirs from `kwargs`,
 * as SQL cannot decrypt them. All or none of a row's are null.
 */
export const runMarkers = `
alter table runs add column is_event_streaming integer;
alter table runs add column is_of_cron integer;
alter table runs add column is_of_task integer;
alter table runs add column thread_retention text
  check (thread_retention in ('keep', 'keep_interrupted', 'delete'));
`;
