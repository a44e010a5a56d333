import type { Rows } from '../../db/column-types.ts';
import { columns, nulls } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { type Cipher, decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { isOneOf, parseJsonColumns } from '../../db/json.ts';
import { and, type RowOf, type Sql, sql } from '../../db/sql.ts';
import type { Run, RunField } from '../../schemas/runs.ts';
import { threadVisible, type Visibility } from '../access/visibility.ts';

/** Cipher columns. */
export const KWARGS_COLUMN = 'runs.kwargs';
export const RUN_ERROR_COLUMN = 'runs.error';

/** A row of `runs` with its JSON decrypted and parsed. */
export function runOf<Row extends Pick<Rows['runs'], 'metadata' | 'kwargs'>>(cipher: Cipher, row: Row) {
  return decryptJsonColumns(cipher, parseJsonColumns(row, ['metadata']), { kwargs: KWARGS_COLUMN });
}

export interface RunList {
  readonly limit: number;
  readonly offset: number;
  /** An unknown status matches nothing. */
  readonly status?: string | undefined;
  /** `cancel_reason` is read only if it is named here; the rest always. */
  readonly select?: readonly RunField[] | undefined;
}

export type RunRepository = ReturnType<typeof runRepository>;

/** A run as a client sees it; tracing sessions are not supported. */
export const RUN_COLUMNS = sql`${columns(
  'runs',
  'run_id, thread_id, assistant_id, metadata, status, kwargs, multitask_strategy, created_at, updated_at',
)}, ${nulls('langsmith_session_name')}`;
const WITH_REASON = sql`${RUN_COLUMNS}, ${columns('runs', 'cancel_reason')}`;

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
      const wanted = and([
        sql`run_id = ${run_id}`,
        thread_id === undefined ? undefined : sql`thread_id = ${thread_id}`,
        threadVisible('runs.thread_id', visibility),
      ]);
      const row = await db.get(sql`select ${RUN_COLUMNS} from runs where ${wanted}`);
      return row && runOf(db.cipher, row);
    },

    /** Newest first. */
    async list(
      thread_id: string,
      { limit, offset, status, select }: RunList,
      visibility?: Visibility,
    ): Promise<Run[]> {
      const wanted = and([listCondition(thread_id, status), threadVisible('runs.thread_id', visibility)]);
      const rows = await db.all(sql`
        select ${selected(select)} from runs where ${wanted}
        order by created_at desc, run_id desc limit ${limit} offset ${offset}`);
      return rows.map((row) => runOf(db.cipher, row));
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

function selected(
  select: RunList['select'],
): Sql<RowOf<typeof RUN_COLUMNS> & Partial<RowOf<typeof WITH_REASON>>> {
  return select?.includes('cancel_reason') ? WITH_REASON : RUN_COLUMNS;
}
