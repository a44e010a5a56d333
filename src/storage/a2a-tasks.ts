import { toJson } from '../core/json.ts';
import type { RunStatus } from '../schemas/runs.ts';
import type { RunError } from '../schemas/threads.ts';
import type { Db, Transaction } from './db.ts';
import type { Cipher } from './encryption/cipher.ts';
import { openJson, openText } from './encryption/open-row.ts';
import { isOneOf } from './json.ts';
import { all, list, raw, type Sql, sql } from './sql.ts';
import { ofVisibleThread, type Visibility } from './visibility.ts';

export interface NewA2aTask {
  /** Also the id of its first run. */
  readonly task_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  /** The thread, as the client calls it. */
  readonly context_id: string;
  readonly created_at: string;
}

/** What a client said, and the run that it led to. */
export interface A2aTurn {
  readonly task_id: string;
  readonly run_id: string;
  /** How many messages the graph's state had before it. */
  readonly position: number;
  /** As JSON of protocol 1.0. */
  readonly message: unknown;
}

/** A task as it stands. */
export interface A2aTaskRow extends NewA2aTask {
  /** Of its newest turn. */
  readonly run_id: string;
  /** `TASK_STATE_…`: of the run while `is_settled` is false. */
  readonly state: string;
  /** Whether the state after the run was read. */
  readonly is_settled: boolean;
  /** Since when, ISO-8601. */
  readonly at: string;
  readonly reason: string | null;
  /** What the graph showed by events, as JSON of protocol 1.0. */
  readonly artifacts: unknown[];
  readonly run_status: RunStatus;
  readonly error: RunError | null;
}

/** What became of a task when its run had ended. */
export interface SettledTask {
  readonly state: string;
  readonly reason?: string | undefined;
  readonly artifacts: readonly unknown[];
  /** Since when, where it is not the end of the run. */
  readonly at?: string | undefined;
}

export interface A2aTaskQuery {
  readonly assistant_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly states?: readonly string[] | undefined;
  readonly is_settled?: boolean;
  /** ISO-8601: only those whose state is from then or later. */
  readonly since?: string | undefined;
  /** Only those behind this one. */
  readonly after?: { readonly at: string; readonly task_id: string } | undefined;
  readonly limit: number;
}

export type A2aTaskRepository = ReturnType<typeof a2aTaskRepository>;

const STATE = `coalesce(t.state, case r.status when 'pending' then 'TASK_STATE_SUBMITTED'
  when 'running' then 'TASK_STATE_WORKING' when 'interrupted' then 'TASK_STATE_CANCELED'
  when 'success' then 'TASK_STATE_COMPLETED' else 'TASK_STATE_FAILED' end)`;
const AT = 'coalesce(t.state_at, r.updated_at)';
const COLUMNS =
  raw(`t.task_id, t.thread_id, t.assistant_id, t.context_id, t.created_at, t.run_id, ${STATE} as state,
  t.state is not null as is_settled, ${AT} as at, t.reason, t.artifacts, r.status as run_status, r.error`);
const FROM = raw('a2a_tasks t join runs r on r.run_id = t.run_id');

/** Tasks, with the status of their newest run; one whose run is gone is gone too. */
export function a2aTaskRepository(db: Db) {
  return {
    async insert(task: NewA2aTask, turn: A2aTurn): Promise<void> {
      await db.transaction('promised', async (tx) => {
        await tx.run(sql`
          insert into a2a_tasks (task_id, thread_id, assistant_id, context_id, run_id, artifacts, created_at)
          values (${task.task_id}, ${task.thread_id}, ${task.assistant_id}, ${task.context_id}, ${task.task_id},
            '[]', ${task.created_at})`);
        await insertTurn(tx, turn);
      });
    },

    /** The task goes on with another run. */
    async continue(turn: A2aTurn): Promise<void> {
      await db.transaction('promised', async (tx) => {
        await tx.run(sql`
          update a2a_tasks set run_id = ${turn.run_id}, state = null, state_at = null, reason = null
          where task_id = ${turn.task_id}`);
        await insertTurn(tx, turn);
      });
    },

    async get(task_id: string, visibility?: Visibility): Promise<A2aTaskRow | undefined> {
      const wanted = all([sql`t.task_id = ${task_id}`, ofVisibleThread('t.thread_id', visibility)]);
      const row = await db.get<StoredRow>(sql`select ${COLUMNS} from ${FROM} where ${wanted}`);
      return row && rowOf(db.cipher, row);
    },

    /** The newest state first. */
    async list(query: A2aTaskQuery, visibility?: Visibility): Promise<A2aTaskRow[]> {
      const rows = await db.all<StoredRow>(sql`
        select ${COLUMNS} from ${FROM} where ${conditions(query, visibility)}
        order by ${raw(AT)} desc, t.task_id desc limit ${query.limit}`);
      return rows.map((row) => rowOf(db.cipher, row));
    },

    async count(query: Omit<A2aTaskQuery, 'limit' | 'after'>, visibility?: Visibility): Promise<number> {
      const row = await db.get<{ total: number | string }>(sql`
        select count(*) as total from ${FROM} where ${conditions(query, visibility)}`);
      return Number(row?.total ?? 0);
    },

    /** In the order in which they were said. */
    async turns(task_id: string): Promise<A2aTurn[]> {
      const rows = await db.all<A2aTurn>(sql`
        select task_id, run_id, position, message from a2a_turns where task_id = ${task_id} order by seq`);
      return rows.map((row) => openJson(db.cipher, row, { message: MESSAGE }));
    },

    /** Keeps what became of it, unless it went on meanwhile. */
    async settle({ task_id, run_id, state: old, is_settled }: A2aTaskRow, end: SettledTask): Promise<void> {
      const unchanged = is_settled ? sql`state = ${old}` : sql`state is null`;
      const reason = end.reason === undefined ? null : db.cipher.sealText(REASON, end.reason);
      const artifacts = db.cipher.sealJson(ARTIFACTS, toJson(end.artifacts));
      await db.run(sql`
        update a2a_tasks set state = ${end.state}, reason = ${reason}, state_at = ${end.at ?? null},
          artifacts = ${artifacts}
        where task_id = ${task_id} and run_id = ${run_id} and ${unchanged}`);
    },

    /** The last checkpoint that some runs made on a thread, and whether others went on from there. */
    async lastCheckpoint(thread_id: string, run_ids: readonly string[]) {
      const row = await db.get<{ checkpoint_id: string }>(sql`
        select checkpoint_id from checkpoints
        where thread_id = ${thread_id} and ns = '' and ${isOneOf('run_id', run_ids)}
        order by checkpoint_id desc limit 1`);
      if (!row) return undefined;
      const later = await db.get(sql`
        select 1 from checkpoints
        where thread_id = ${thread_id} and ns = '' and checkpoint_id > ${row.checkpoint_id} limit 1`);
      return { checkpoint_id: row.checkpoint_id, is_newest: later === undefined };
    },
  };
}

type StoredRow = Omit<A2aTaskRow, 'is_settled'> & { is_settled: boolean | number };

const ARTIFACTS = 'a2a_tasks.artifacts';
const REASON = 'a2a_tasks.reason';
const MESSAGE = 'a2a_turns.message';

function rowOf(cipher: Cipher, row: StoredRow): A2aTaskRow {
  openJson(cipher, row, { artifacts: ARTIFACTS, error: 'runs.error' });
  openText(cipher, row, { reason: REASON });
  return { ...row, is_settled: Boolean(row.is_settled) };
}

async function insertTurn(tx: Transaction, { task_id, run_id, position, message }: A2aTurn): Promise<void> {
  const sealed = tx.cipher.sealJson(MESSAGE, toJson(message));
  await tx.run(sql`insert into a2a_turns (task_id, run_id, position, message)
    values (${task_id}, ${run_id}, ${position}, ${sealed})`);
}

function conditions(
  { assistant_id, thread_id, states, is_settled, since, after }: Omit<A2aTaskQuery, 'limit'>,
  visibility: Visibility | undefined,
): Sql {
  return all([
    assistant_id === undefined ? undefined : sql`t.assistant_id = ${assistant_id}`,
    thread_id === undefined ? undefined : sql`t.thread_id = ${thread_id}`,
    states && sql`${raw(STATE)} in ${list(states)}`,
    is_settled === undefined ? undefined : raw(`t.state is ${is_settled ? 'not null' : 'null'}`),
    since === undefined ? undefined : sql`${raw(AT)} >= ${since}`,
    after && sql`(${raw(AT)} < ${after.at} or ${raw(AT)} = ${after.at} and t.task_id < ${after.task_id})`,
    ofVisibleThread('t.thread_id', visibility),
  ]);
}
