/**
 * For the overview of a server. `runs_ended`: how the newest runs ended, from the index alone; entries come last in it.
 * `worker_details`: what else is known of a process than its lease; a table of its own, as `workers` is busy.
 */
export const systemOverview = `
create index runs_ended on runs (ended_at, status) where ended_at is not null;
create table worker_details (
  worker_id {uuid} primary key,
  role text not null,
  hosts integer not null
){strict};
`;
