import type { DialectName } from '../sql.ts';
import { containmentIndex } from './containment-index.ts';

/** Each order of a search is the order of an index, with ids last so that no two rows are equal. */
const ORDERS = `
create index threads_state_updated on threads (state_updated_at, thread_id);
create index threads_status on threads (status);
drop index assistants_graph;
create index assistants_graph on assistants (graph_id, assistant_id);
create index assistants_created on assistants (created_at, assistant_id);
create index assistants_updated on assistants (updated_at, assistant_id);
create index assistants_name on assistants (lower(name), assistant_id);
-- Few of the runs of a thread, and those that are looked for.
create index runs_ended_badly on runs (thread_id, created_at) where status in ('error', 'timeout', 'interrupted');
`;

const CONTAINMENT = [
  containmentIndex('threads'),
  containmentIndex('threads', 'outline'),
  containmentIndex('assistants'),
];

/** Searches of threads and assistants without a look at every row. */
export const search: Record<DialectName, string> = {
  sqlite: ORDERS + CONTAINMENT.map(({ sqlite }) => sqlite).join(''),
  postgres: ORDERS + CONTAINMENT.map(({ postgres }) => postgres).join(''),
};
