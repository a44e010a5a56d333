import { number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { metadataMatches } from '../../db/metadata-filter.ts';
import { and, defined, raw, type Sql, sql } from '../../db/sql.ts';
import type { CronCount, CronFilter, CronSearch } from '../../schemas/crons.ts';
import { VISIBLE_CRONS, type Visibility, visible } from '../access/visibility.ts';
import { byteSlices, idsInSlices, type LargeRows } from '../search/byte-slices.ts';
import { boundedRows } from '../search/list-bytes.ts';
import { COLUMNS, cronOf, LARGE_COLUMNS, type StoredCron } from './row.ts';

/** SQL: enabled, and no time is left. */
export const HAS_ENDED = 'enabled = 1 and next_run_date is null';

const SORT: Record<CronSearch['sort_by'], Sql> = {
  cron_id: sql`cron_id`,
  assistant_id: sql`assistant_id`,
  thread_id: sql`thread_id`,
  next_run_date: sql`next_run_date`,
  end_time: sql`ends_at`,
  created_at: sql`created_at`,
  updated_at: sql`updated_at`,
};

/** In the order of the query. Throws `InvalidInput` if they are too large for one reply. */
export async function searchCrons(
  reader: Reader,
  query: CronSearch,
  visibility?: Visibility,
  max_bytes?: number,
): Promise<StoredCron[]> {
  const order = raw(query.sort_order === 'asc' ? 'asc' : 'desc');
  const by = sql`order by ${SORT[query.sort_by]} ${order} nulls last, cron_id ${order}`;
  const { rows, conditions } = wantedCrons(query, visibility, by);
  const found = await idsInSlices(reader, rows, conditions, query.offset + query.limit);
  const ids = found.slice(query.offset);
  const crons = await boundedRows(reader, {
    what: 'crons',
    ids,
    id: 'crons.cron_id',
    select: (condition) => sql`select ${COLUMNS} from crons where ${condition}`,
    from: raw('from crons'),
    where: [visible(VISIBLE_CRONS, visibility)],
    large: LARGE_COLUMNS,
    max_bytes,
    read: (row) => cronOf(reader.cipher, row),
  });
  const byId = new Map(crons.map((cron) => [cron.cron_id, cron]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export async function countCrons(
  reader: Reader,
  filter: CronCount,
  visibility?: Visibility,
): Promise<number> {
  const { rows, conditions } = wantedCrons(filter, visibility);
  let total = 0;
  for await (const slice of byteSlices(reader, rows)) {
    const wanted = and([...rows.where, slice, ...conditions]);
    const row = await reader.get(sql`select count(*) as ${number('count')} from crons where ${wanted}`);
    total += row?.count ?? 0;
  }
  return total;
}

/** What the row alone decides, and the conditions that read metadata, which may be large. */
function wantedCrons(
  { assistant_id, thread_id, enabled, ended, metadata }: CronFilter,
  visibility: Visibility | undefined,
  order?: Sql,
): { readonly rows: LargeRows; readonly conditions: Sql[] } {
  const where = [
    assistant_id === undefined ? undefined : sql`assistant_id = ${assistant_id}`,
    thread_id === undefined ? undefined : sql`thread_id = ${thread_id}`,
    enabled === undefined ? undefined : sql`enabled = ${Number(enabled)}`,
    ended === undefined ? undefined : raw(ended ? HAS_ENDED : `not (${HAS_ENDED})`),
  ];
  const conditions = defined([
    metadata && metadataMatches('crons.metadata', { contains: metadata }),
    visible(VISIBLE_CRONS, visibility),
  ]);
  const large = conditions.length === 0 ? [] : [raw('crons.metadata')];
  return { rows: { from: raw('crons'), where, id: 'crons.cron_id', order, large }, conditions };
}
