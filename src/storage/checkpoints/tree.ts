import { columns, nullable, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { type Cipher, DecryptionError } from '../../db/encryption/cipher.ts';
import { isOneOf } from '../../db/json.ts';
import { lateralJoin } from '../../db/lateral-join.ts';
import { and, type RowOf, raw, sql } from '../../db/sql.ts';
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
)}, ${ofParent('versions')} as ${nullable(text('versions_before'))},
  ${ofParent('checkpoint')} as ${nullable(text('checkpoint_before'))}`;

function ofParent(column: 'versions' | 'checkpoint') {
  return sql`(
    select ${raw(`p.${column}`)} from checkpoints p
    where p.thread_id = c.thread_id and p.ns = c.ns and p.checkpoint_id = c.parent_id
  )`;
}

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
  const recorded = await recordedNodes(reader, rows);
  return rows.map((row) => nodeOf(reader.cipher, row, recorded.get(`${row.run_id}/${row.parent_id}`)));
}

type NodeRow = RowOf<typeof NODE>;

/** Names of nodes by run and the checkpoint that they began with, as far as the steps of the runs were recorded. */
async function recordedNodes(
  reader: Reader,
  rows: readonly NodeRow[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const runs = [...new Set(rows.flatMap(({ run_id }) => run_id ?? []))];
  if (runs.length === 0) return found;
  const steps = await reader.all(sql`
    select distinct ${columns('run_steps', 'run_id, checkpoint_id, name')} from run_steps
    where ${isOneOf('run_id', runs)} and kind = 'node' and checkpoint_id is not null`);
  for (const { run_id, checkpoint_id, name } of steps) {
    const key = `${run_id}/${checkpoint_id}`;
    found.set(key, [...(found.get(key) ?? []), name]);
  }
  return found;
}

function nodeOf(cipher: Cipher, row: NodeRow, recorded: readonly string[] = []): CheckpointNode {
  return {
    checkpoint_id: row.checkpoint_id,
    checkpoint_ns: row.ns,
    parent_checkpoint_id: row.parent_id,
    run_id: row.run_id,
    ...detailsOf(cipher, row, recorded),
    changed_channels: changedChannels(row),
  };
}

type Details = Pick<CheckpointNode, 'step' | 'source' | 'created_at' | 'nodes'>;

function detailsOf(cipher: Cipher, row: NodeRow, recorded: readonly string[]): Details {
  try {
    const { step = null, source = null } = JSON.parse(decryptMetadata(cipher, row.metadata));
    const { ts = null, versions_seen = {} } = JSON.parse(
      cipher.decryptJson(CHECKPOINT_COLUMN, row.checkpoint),
    );
    const nodes = source === 'loop' ? nodesBetween(cipher, row, versions_seen, recorded) : [];
    return { step, source, created_at: ts, nodes };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return { step: null, source: null, created_at: null, nodes: null };
  }
}

/** Versions of the channels that started a node, by node. */
type VersionsSeen = Readonly<Record<string, Versions>>;

/** What an interrupt has seen is noted like a node. */
const INTERRUPT = '__interrupt__';

/** Nodes that have seen other versions than at the parent, and those that were recorded: `Send` starts them by no channel. */
function nodesBetween(
  cipher: Cipher,
  { parent_id, checkpoint_before }: NodeRow,
  now: VersionsSeen,
  recorded: readonly string[],
): string[] | null {
  if (parent_id !== null && checkpoint_before === null) return recorded.length > 0 ? [...recorded] : null;
  const before: VersionsSeen =
    checkpoint_before === null
      ? {}
      : (JSON.parse(cipher.decryptJson(CHECKPOINT_COLUMN, checkpoint_before)).versions_seen ?? {});
  const ran = Object.keys(now).filter(
    (name) => name !== INTERRUPT && JSON.stringify(now[name]) !== JSON.stringify(before[name]),
  );
  return [...new Set([...ran, ...recorded])];
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
