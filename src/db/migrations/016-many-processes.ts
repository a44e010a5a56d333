/**
 * Many processes on one database. `owner`: who a run is claimed for in turn, null without fairness by owner; `graph_ids`:
 * the graphs that a live process serves, as a JSON list.
 *
 * The queue and the leases are small tables whose rows change all the time: free space in their pages lets an update
 * stay in its page, and they are vacuumed after some hundred dead rows instead of a fifth of the table.
 */
const columns = `
alter table run_queue add column owner text;
alter table workers add column graph_ids {json};
create index run_queue_owner on run_queue (owner, not_before, seq) where state = 'ready' and owner is not null;
create index run_queue_owner_running on run_queue (owner) where state = 'running' and owner is not null;
`;

const storage = (table: string, threshold: number) => `
alter table ${table} set (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = ${threshold},
  autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = ${threshold}, autovacuum_vacuum_cost_delay = 0
);
`;

export const manyProcesses = {
  sqlite: columns,
  postgres: columns + storage('run_queue', 500) + storage('workers', 50) + storage('webhook_outbox', 500),
};
