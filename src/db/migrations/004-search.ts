import type { DialectName } from '../sql.ts';
import { containmentIndex } from './containment-index.ts';

/** Each sort order of a search is the order of an index, with the id last as a tie-breaker. */
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

/**
 * SQLite's own `lower` is ASCII-only. Ours is in triggers and not in the index, so that other tools can read and check
 * the whole file.
 */
const BY_NAME: Record<DialectName, string> = {
  sqlite: `
alter table assistants add column name_order text;
update assistants set name_order = unicode_lower(name);
create trigger assistants_named after insert on assistants begin
  update assistants set name_order = unicode_lower(new.name) where assistant_id = new.assistant_id; end;
create trigger assistants_renamed after update of name on assistants when new.name <> old.name begin
  update assistants set name_order = unicode_lower(new.name) where assistant_id = new.assistant_id; end;
create index assistants_name on assistants (name_order, assistant_id);
`,
  postgres: 'create index assistants_name on assistants (lower(name), assistant_id);\n',
};

/** Index-backed searches of threads and assistants. */
export const search: Record<DialectName, string> = {
  sqlite: ORDERS + BY_NAME.sqlite + CONTAINMENT.map(({ sqlite }) => sqlite).join(''),
  postgres: ORDERS + BY_NAME.postgres + CONTAINMENT.map(({ postgres }) => postgres).join(''),
};
