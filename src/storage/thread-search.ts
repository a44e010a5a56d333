import type { Thread, ThreadFilter, ThreadSearch } from '../schemas/threads.ts';
import type { Reader } from './db.ts';
import { contains, isOneOf } from './json.ts';
import { type MetadataFilter, metadataMatches } from './metadata-filter.ts';
import { all, raw, type Sql, sql } from './sql.ts';
import { STATUS, selectThreads, type ThreadRow, threadOf } from './thread-row.ts';

const SORT: Record<ThreadSearch['sort_by'], Sql> = {
  thread_id: sql`threads.thread_id`,
  status: STATUS,
  created_at: sql`threads.created_at`,
  updated_at: sql`threads.updated_at`,
  state_updated_at: sql`threads.state_updated_at`,
};

export async function searchThreads(
  reader: Reader,
  query: ThreadSearch,
  visible?: MetadataFilter,
): Promise<Thread[]> {
  const order = raw(query.sort_order === 'asc' ? 'asc' : 'desc');
  const rows = await reader.all<ThreadRow>(sql`
    ${selectThreads(query.select)} where ${matches(query, visible)}
    order by ${SORT[query.sort_by]} ${order}, threads.thread_id ${order}
    limit ${query.limit} offset ${query.offset}`);
  return rows.map(threadOf);
}

export async function countThreads(
  reader: Reader,
  filter: ThreadFilter,
  visible?: MetadataFilter,
): Promise<number> {
  const row = await reader.get<{ count: number }>(
    sql`select count(*) as count from threads where ${matches(filter, visible)}`,
  );
  return row?.count ?? 0;
}

function matches(
  { ids, metadata, values, status }: ThreadFilter & Pick<ThreadSearch, 'ids'>,
  visible: MetadataFilter | undefined,
): Sql {
  return all([
    ids && ids.length > 0 ? isOneOf('threads.thread_id', ids) : undefined,
    metadata && metadataMatches('threads.metadata', { contains: metadata }),
    visible && metadataMatches('threads.metadata', visible),
    values && hasValues(values),
    status && sql`${STATUS} = ${status}`,
  ]);
}

/** `{}` asks for nothing: a thread that never ran has it too. */
function hasValues(wanted: Record<string, unknown>): Sql | undefined {
  if (Object.keys(wanted).length === 0) return undefined;
  return sql`exists (select 1 from thread_values
    where thread_values.thread_id = threads.thread_id and ${contains('thread_values.value', wanted)})`;
}
