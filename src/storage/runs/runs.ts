import type { Rows } from '../../db/column-types.ts';
import { columns, nulls } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { type Cipher, decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { isOneOf, parseJsonColumns } from '../../db/json.ts';
import { and, join, type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import type { Run, RunField } from '../../schemas/runs.ts';
import { threadVisible, type Visibility } from '../access/visibility.ts';
import { boundedRows } from '../search/list-bytes.ts';

/** Cipher columns. */
export const KWARGS_COLUMN = 'runs.kwargs';
export const RUN_ERROR_COLUMN = 'runs.error';

/** A row of `runs` with its JSON decrypted and parsed. */
export function runOf<Row extends Partial<Pick<Rows['runs'], 'metadata' | 'kwargs'>>>(
  cipher: Cipher,
  row: Row,
) {
  return decryptJsonColumns(cipher, parseJsonColumns(row, ['metadata']), { kwargs: KWARGS_COLUMN });
}

/** The assistant that a run was created for, as it was then. Not part of the run on the wire. */
export const AGENT_COLUMNS = columns('runs', 'assistant_name, assistant_version');
export type RunAgent = RowOf<typeof AGENT_COLUMNS>;

/** The executor of the last attempt of a run, where several share the queue; null if it is not known. */
const EXECUTOR_COLUMN = columns('runs', 'executor_id');
type RunExecutor = RowOf<typeof EXECUTOR_COLUMN>;

export interface RunList {
  readonly limit: number;
  readonly offset: number;
  /** An unknown status matches nothing. */
  readonly status?: string | undefined;
  /** `kwargs` and `metadata` are read by default, `cancel_reason` only if it is named; the rest always. */
  readonly select?: readonly RunField[] | undefined;
}

export type RunRepository = ReturnType<typeof runRepository>;

/** A run as a client sees it; tracing sessions are not supported. */
export const RUN_COLUMNS = sql`${columns(
  'runs',
  'run_id, thread_id, assistant_id, metadata, status, kwargs, multitask_strategy, created_at, updated_at',
)}, ${nulls('langsmith_session_name')}`;
const SMALL_COLUMNS = sql`${columns(
  'runs',
  'run_id, thread_id, assistant_id, status, multitask_strategy, created_at, updated_at',
)}, ${nulls('langsmith_session_name')}`;
const SELECTED_COLUMNS = {
  metadata: columns('runs', 'metadata'),
  kwargs: columns('runs', 'kwargs'),
  cancel_reason: columns('runs', 'cancel_reason'),
};
type ListedRow = RowOf<typeof SMALL_COLUMNS> & Partial<Pick<Rows['runs'], keyof typeof SELECTED_COLUMNS>>;

function isRun(thread_id: string | undefined, run_id: string, visibility: Visibility | undefined): Sql {
  return and([
    sql`run_id = ${run_id}`,
    thread_id === undefined ? undefined : sql`thread_id = ${thread_id}`,
    threadVisible('runs.thread_id', visibility),
  ]);
}

/**
 * Reads runs; the verbs of `queue/` insert, update and delete them. Visibility is that of their threads: a run on a
 * thread that is not visible is missing.
 */
export function runRepository(db: Db) {
  return {
    /** With a `thread_id`, only a run of that thread. */
    async get(
      thread_id: string | undefined,
      run_id: string,
      visibility?: Visibility,
    ): Promise<Run | undefined> {
      const row = await db.get(
        sql`select ${RUN_COLUMNS} from runs where ${isRun(thread_id, run_id, visibility)}`,
      );
      return row && runOf(db.cipher, row);
    },

    /** As `get`, with the assistant that the run was created for and the executor of its last attempt. */
    async getWithAgent(
      thread_id: string | undefined,
      run_id: string,
      visibility?: Visibility,
    ): Promise<({ run: Run; agent: RunAgent } & RunExecutor) | undefined> {
      const row = await db.get(
        sql`select ${RUN_COLUMNS}, ${AGENT_COLUMNS}, ${EXECUTOR_COLUMN} from runs where ${isRun(thread_id, run_id, visibility)}`,
      );
      if (!row) return undefined;
      const { assistant_name, assistant_version, executor_id, ...run } = runOf(db.cipher, row);
      return { run, agent: { assistant_name, assistant_version }, executor_id };
    },

    /** The executor of the last attempt of a run of this thread; `undefined` if it is not known. */
    async executorOf(thread_id: string, run_id: string): Promise<string | undefined> {
      const row = await db.get(
        sql`select ${EXECUTOR_COLUMN} from runs where ${isRun(thread_id, run_id, undefined)}`,
      );
      return row?.executor_id ?? undefined;
    },

    /** Newest first. Throws `InvalidInput` if they are too large for one reply. */
    list(thread_id: string, query: RunList, visibility?: Visibility, max_bytes?: number): Promise<Run[]> {
      return listRuns(db, { ...query, thread_id }, visibility, max_bytes);
    },

    /** True if the thread has one of these runs, in any state. */
    async exist(thread_id: string, run_ids: readonly string[], visibility?: Visibility): Promise<boolean> {
      const wanted = and([
        sql`thread_id = ${thread_id}`,
        isOneOf('run_id', run_ids),
        threadVisible('runs.thread_id', visibility),
      ]);
      const row = await db.get(sql`select 1 from runs where ${wanted} limit 1`);
      return row !== undefined;
    },

    /** True if the thread has a run of the assistant, in any state. */
    async existsForAssistant(thread_id: string, assistant_id: string): Promise<boolean> {
      const row = await db.get(sql`
        select 1 from runs where thread_id = ${thread_id} and assistant_id = ${assistant_id} limit 1`);
      return row !== undefined;
    },

    /** Up to `limit` runs of an assistant, on any thread and in any state. */
    findByAssistant(assistant_id: string, limit: number): Promise<Pick<Run, 'run_id' | 'thread_id'>[]> {
      return db.all(sql`
        select ${columns('runs', 'run_id, thread_id')} from runs
        where assistant_id = ${assistant_id} limit ${limit}`);
    },
  };
}

/** Phrased to match a small index where there is one: the queue's, or a partial index. */
function listCondition(thread_id: string, status: string | undefined): Sql {
  const ofThread = sql`thread_id = ${thread_id}`;
  switch (status) {
    case undefined:
      return ofThread;
    case 'pending':
    case 'running':
      return sql`run_id in (select run_id from run_queue where ${ofThread}) and status = ${status}`;
    case 'error':
    case 'timeout':
    case 'interrupted':
      return sql`${ofThread} and status in ('error', 'timeout', 'interrupted') and status = ${status}`;
    default:
      return sql`${ofThread} and status = ${status}`;
  }
}

async function listRuns(
  db: Db,
  { thread_id, ...query }: RunList & { readonly thread_id: string },
  visibility: Visibility | undefined,
  max_bytes: number | undefined,
): Promise<Run[]> {
  const { select = JSON_COLUMNS } = query;
  const page = await db.all(sql`select ${columns('runs', 'run_id')} ${pageOf(thread_id, query, visibility)}`);
  const ids = page.map(({ run_id }) => run_id);
  const runs = await boundedRows(db, {
    what: 'runs',
    or: 'select other fields',
    ids,
    id: 'runs.run_id',
    select: (condition) => sql`select ${selected(query.select)} from runs where ${condition}`,
    from: raw('from runs'),
    where: [threadVisible('runs.thread_id', visibility)],
    large: ['run_id', ...JSON_COLUMNS.filter((name) => select.includes(name))].map(raw),
    max_bytes,
    read: (row) => runOf(db.cipher, row) as Run,
  });
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function pageOf(
  thread_id: string,
  { limit, offset, status }: RunList,
  visibility: Visibility | undefined,
): Sql {
  const wanted = and([listCondition(thread_id, status), threadVisible('runs.thread_id', visibility)]);
  return sql`from runs where ${wanted} order by created_at desc, run_id desc limit ${limit} offset ${offset}`;
}

function selected(select: RunList['select']): Sql<ListedRow> {
  if (!select) return RUN_COLUMNS;
  const named = Object.entries(SELECTED_COLUMNS).filter(([name]) => select.includes(name as RunField));
  return join<ListedRow>(
    [SMALL_COLUMNS as Sql<ListedRow>, ...named.map(([, column]) => column as Sql<ListedRow>)],
    ', ',
  );
}

const JSON_COLUMNS = ['kwargs', 'metadata'] as const;
