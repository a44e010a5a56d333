import { columns, nullable, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { type Cipher, DecryptionError } from '../../db/encryption/cipher.ts';
import { lateralJoin } from '../../db/lateral-join.ts';
import { and, type RowOf, sql } from '../../db/sql.ts';
import type { CheckpointNode } from '../../schemas/thread-tree.ts';
import { decryptMetadata } from './metadata.ts';
import { CHECKPOINT_COLUMN } from './rows.ts';

export interface TreeQuery {
  readonly thread_id: string;
  /** With the checkpoints of subgraphs. */
  readonly subgraphs: boolean;
  /** Keyset cursor: only checkpoints older than this one. */
  readonly after?: { readonly checkpoint_id: string; readonly ns: string } | undefined;
  readonly limit: number;
}

const NODE = sql`${columns(
  'checkpoints',
  'c.checkpoint_id, c.ns, c.parent_id, c.run_id, c.checkpoint, c.versions, c.metadata',
)}, (
  select p.versions from checkpoints p
  where p.thread_id = c.thread_id and p.ns = c.ns and p.checkpoint_id = c.parent_id
) as ${nullable(text('versions_before'))}`;

/** Newest first: ids sort by time. Reads no values. */
export async function findTree(
  reader: Reader,
  { thread_id, subgraphs, after, limit }: TreeQuery,
): Promise<CheckpointNode[]> {
  const wanted = and([
    sql`thread_id = ${thread_id}`,
    subgraphs ? undefined : sql`ns = ''`,
    after && sql`(checkpoint_id, ns) < (${after.checkpoint_id}, ${after.ns})`,
  ]);
  const ofPage = sql`c.thread_id = ${thread_id} and c.ns = page.ns and c.checkpoint_id = page.checkpoint_id`;
  // The page from the primary key alone: with subgraphs, its rows are sorted.
  const rows = await reader.all(sql`
    select ${NODE} from (
      select checkpoint_id, ns from checkpoints where ${wanted} order by checkpoint_id desc, ns desc limit ${limit}
    ) page ${lateralJoin('checkpoints', 'c', ofPage)} order by c.checkpoint_id desc, c.ns desc`);
  return rows.map((row) => nodeOf(reader.cipher, row));
}

type NodeRow = RowOf<typeof NODE>;

function nodeOf(cipher: Cipher, row: NodeRow): CheckpointNode {
  return {
    checkpoint_id: row.checkpoint_id,
    checkpoint_ns: row.ns,
    parent_checkpoint_id: row.parent_id,
    run_id: row.run_id,
    ...detailsOf(cipher, row),
    changed_channels: changedChannels(row),
  };
}

function detailsOf(cipher: Cipher, row: NodeRow): Pick<CheckpointNode, 'step' | 'source' | 'created_at'> {
  try {
    const { step = null, source = null } = JSON.parse(decryptMetadata(cipher, row.metadata));
    const { ts = null } = JSON.parse(cipher.decryptJson(CHECKPOINT_COLUMN, row.checkpoint));
    return { step, source, created_at: ts };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return { step: null, source: null, created_at: null };
  }
}

type Versions = Readonly<Record<string, string | number>>;

/** LangGraph's own: the input, sends, and which node is next. */
const INTERNAL_CHANNEL = /^(__(?!root__)|branch:|start:)/;

/** Null if the parent was pruned. */
function changedChannels({ parent_id, versions, versions_before }: NodeRow): string[] | null {
  if (parent_id !== null && versions_before === null) return null;
  const before: Versions = JSON.parse(versions_before ?? '{}');
  const now: Versions = JSON.parse(versions);
  return Object.keys(now).filter(
    (channel) => now[channel] !== before[channel] && !INTERNAL_CHANNEL.test(channel),
  );
}
