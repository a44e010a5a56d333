import type { DialectName } from '../../sql.ts';
import { containmentIndex } from '../containment-index.ts';

/** Each sort order of a search is the order of an index, with the id last as a tie-breaker. */
const TABLES = `
create table assistants (
  {row_id}
  assistant_id {uuid} {key},
  graph_id text not null,
  name text not null,
  description text,
  config {json} not null,
  context {json} not null,
  metadata {jsonb} not null,
  version integer not null,
  created_at {timestamp} not null,
  updated_at {timestamp} not null
){strict};
create index assistants_graph on assistants (graph_id, assistant_id);
create index assistants_created on assistants (created_at, assistant_id);
create index assistants_updated on assistants (updated_at, assistant_id);

create table assistant_versions (
  assistant_id {uuid} not null references assistants (assistant_id) on delete cascade,
  version integer not null,
  graph_id text not null,
  name text not null,
  description text,
  config {json} not null,
  context {json} not null,
  metadata {jsonb} not null,
  created_at {timestamp} not null,
  primary key (assistant_id, version)
){strict};
`;

/**
 * SQLite's own `lower` is ASCII-only. Ours is in triggers and not in the index, so that other tools can read and check
 * the whole file.
 */
const BY_NAME: Record<DialectName, string> = {
  sqlite: `
alter table assistants add column name_order text;
create trigger assistants_named after insert on assistants begin
  update assistants set name_order = unicode_lower(new.name) where assistant_id = new.assistant_id; end;
create trigger assistants_renamed after update of name on assistants when new.name <> old.name begin
  update assistants set name_order = unicode_lower(new.name) where assistant_id = new.assistant_id; end;
create index assistants_name on assistants (name_order, assistant_id);
`,
  postgres: 'create index assistants_name on assistants (lower(name), assistant_id);\n',
};

const metadata = containmentIndex('assistants');

export const assistants: Record<DialectName, string> = {
  sqlite: TABLES + BY_NAME.sqlite + metadata.sqlite,
  postgres: TABLES + BY_NAME.postgres + metadata.postgres,
};
