import type { Reader } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { combineFilters, matchesEverything, metadataMatches } from '../../db/metadata-filter.ts';
import { type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import type { Assistant, AssistantFilter, AssistantSearch } from '../../schemas/assistants.ts';
import { VISIBLE_ASSISTANTS, type Visibility, visible } from '../access/visibility.ts';
import type { TableFilter } from '../search/access-path.ts';
import { boundedRows } from '../search/list-bytes.ts';
import { countRows, findIds } from '../search/table-search.ts';
import { assistantOf, COLUMNS, LARGE_COLUMNS } from './row.ts';

const SORT: Record<AssistantSearch['sort_by'], Sql> = {
  assistant_id: raw('assistants.assistant_id'),
  created_at: raw('assistants.created_at'),
  updated_at: raw('assistants.updated_at'),
  name: sql`${{ sqlite: raw('assistants.name_order'), postgres: raw('lower(assistants.name)') }}`,
  graph_id: raw('assistants.graph_id'),
};

export async function searchAssistants(
  reader: Reader,
  query: AssistantSearch,
  visibility?: Visibility,
  max_bytes?: number,
): Promise<Assistant[]> {
  const ids = await findIds(reader, {
    ...filterOf(query, visibility),
    id: 'assistants.assistant_id',
    sort: SORT[query.sort_by],
    order: query.sort_order,
    limit: query.limit,
    offset: query.offset,
  });
  const assistants = await boundedRows(reader, {
    what: 'assistants',
    ids,
    id: 'assistants.assistant_id',
    select: (condition) => sql`select ${COLUMNS} from assistants where ${condition}`,
    from: raw('from assistants'),
    where: [visible(VISIBLE_ASSISTANTS, visibility)],
    large: LARGE_COLUMNS,
    max_bytes,
    read: (row) => assistantOf(reader.cipher, row),
  });
  const byId = new Map(assistants.map((assistant) => [assistant.assistant_id, assistant]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export function countAssistants(
  reader: Reader,
  filter: AssistantFilter,
  visibility?: Visibility,
): Promise<number> {
  return countRows(reader, filterOf(filter, visibility));
}

export function filterOf(
  { metadata, graph_id, name }: AssistantFilter,
  visibility: Visibility | undefined,
): TableFilter {
  const wanted = combineFilters(metadata && { contains: metadata }, visibility?.metadata);
  return {
    table: 'assistants',
    contained: [{ column: 'metadata', filter: wanted }],
    where: [
      graph_id === undefined ? undefined : isOfGraph(graph_id),
      visibility?.ids && isOneOf('assistants.assistant_id', visibility.ids),
      name === undefined ? undefined : sql`strpos(lower(assistants.name), lower(${name})) > 0`,
      matchesEverything(wanted) ? undefined : metadataMatches('assistants.metadata', wanted),
    ].filter((condition) => condition !== undefined),
    large: matchesEverything(wanted) ? [] : [raw('assistants.metadata')],
    row_id_queries:
      graph_id === undefined ? [] : [sql`select row_id from assistants where graph_id = ${graph_id}`],
  };
}

/** The unary `+` keeps SQLite from choosing this index where another is better. */
function isOfGraph(graph_id: string): DialectSql {
  return {
    sqlite: sql`+assistants.graph_id = ${graph_id}`,
    postgres: sql`assistants.graph_id = ${graph_id}`,
  };
}
