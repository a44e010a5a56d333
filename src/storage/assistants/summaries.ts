import { columns, nullable, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { raw, sql } from '../../db/sql.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import { VISIBLE_ASSISTANTS, type Visibility, visible } from '../access/visibility.ts';
import { boundedRows, MAX_LIST_BYTES, tooLarge } from '../search/list-bytes.ts';
import { findIds } from '../search/table-search.ts';
import { filterOf } from './search.ts';

/** What lists of tools, models and agents need of an assistant. `metadata` has `mcp` alone. */
export type AssistantSummary = Pick<
  Assistant,
  'assistant_id' | 'graph_id' | 'name' | 'description' | 'version' | 'created_at' | 'metadata'
>;

const SUMMARY = sql`${columns('assistants', 'assistant_id, graph_id, name, description, version, created_at')},
  metadata -> 'mcp' as ${nullable(text('mcp'))}`;

const LARGE = ['name', 'description', `metadata -> 'mcp'`].map(raw);
const HOW_TO_SHORTEN = 'shorten names, descriptions and metadata.mcp of assistants';
const PAGE = 1000;

/** All that are visible, oldest first, and their size. Throws `InvalidInput` if they are too large for one reply. */
export async function assistantSummaries(
  reader: Reader,
  visibility?: Visibility,
  max_bytes = MAX_LIST_BYTES,
): Promise<{ readonly list: AssistantSummary[]; readonly bytes: number }> {
  const list: AssistantSummary[] = [];
  let bytes = 0;
  for (;;) {
    const rows = await summaryPage(reader, list.length, visibility, max_bytes);
    for (const { mcp, ...row } of rows) {
      bytes += Buffer.byteLength(`${row.name}${row.description ?? ''}${mcp ?? ''}`);
      list.push({ ...row, metadata: mcp === null ? {} : { mcp: JSON.parse(mcp) } });
    }
    if (bytes > max_bytes)
      throw tooLarge(`the assistants have more than ${max_bytes} bytes`, max_bytes, HOW_TO_SHORTEN);
    if (rows.length < PAGE) return { list, bytes };
  }
}

async function summaryPage(
  reader: Reader,
  offset: number,
  visibility: Visibility | undefined,
  max_bytes: number,
) {
  const ids = await findIds(reader, {
    ...filterOf({}, visibility),
    id: 'assistants.assistant_id',
    sort: raw('assistants.created_at'),
    order: 'asc',
    ...{ limit: PAGE, offset },
  });
  const rows = await boundedRows(reader, {
    what: 'assistants',
    or: HOW_TO_SHORTEN,
    ids,
    id: 'assistants.assistant_id',
    select: (condition) => sql`select ${SUMMARY} from assistants where ${condition}`,
    from: raw('from assistants'),
    where: [visible(VISIBLE_ASSISTANTS, visibility)],
    large: LARGE,
    max_bytes,
    read: (row) => row,
  });
  const byId = new Map(rows.map((row) => [row.assistant_id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
