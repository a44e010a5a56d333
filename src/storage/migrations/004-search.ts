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
-- Few of the runs of a thread, and those that are looked for.
create index runs_ended_badly on runs (thread_id, created_at) where status in ('error', 'timeout', 'interrupted');
`;

const CONTAINMENT = [
  containmentIndex('threads'),
  containmentIndex('threads', 'outline'),
  containmentIndex('assistants'),
];

/** SQLite's own `lower` knows ASCII only; whoever opens the file without ours must fail and not write a wrong index. */
const BY_NAME: Record<DialectName, string> = {
  sqlite: 'create index assistants_name on assistants (unicode_lower(name), assistant_id);\n',
  postgres: 'create index assistants_name on assistants (lower(name), assistant_id);\n',
};

/** Searches of threads and assistants without a look at every row. */
export const search: Record<DialectName, string> = {
  sqlite: ORDERS + BY_NAME.sqlite + CONTAINMENT.map(({ sqlite }) => sqlite).join(''),
  postgres: ORDERS + BY_NAME.postgres + CONTAINMENT.map(({ postgres }) => postgres).join(''),
};
