import { columns, nullable, number, text } from '../../../db/columns.ts';
import type { Db } from '../../../db/db.ts';
import {
  type Cipher,
  DecryptionError,
  decryptJsonColumns,
  decryptTextColumns,
} from '../../../db/encryption/cipher.ts';
import { isOneOf } from '../../../db/json.ts';
import { and, type DialectSql, list, or, type RowOf, raw, type Sql, sql } from '../../../db/sql.ts';
import type { RunStatus } from '../../../schemas/runs.ts';
import type { RunError } from '../../../schemas/threads.ts';
import { threadVisible, type Visibility } from '../../../storage/access/visibility.ts';
import { ARTIFACTS_COLUMN, finalizeTask, REASON_COLUMN, type TaskFinalization } from './finalize-task.ts';
import { type A2aTurn, listTurns, runsPendingArtifacts } from './turns.ts';

export interface A2aTaskRow {
  /** Equals the id of its first run. */
  readonly task_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  /** The client's id of the thread. */
  readonly context_id: string;
  readonly created_at: string;
  /** Run of its newest turn. */
  readonly run_id: string;
  /** Final or interrupted state; `null` until finalized, when the run's status determines it. */
  readonly state: string | null;
  /** When the state began, ISO-8601. */
  readonly at: string;
  readonly reason: string | null;
  /** Artifacts from the graph's events, protocol 1.0 JSON. */
  readonly artifacts: unknown[];
  /** Of its oldest run in flight, else of `run_id`: a queued message can be cancelled before the current one ends. */
  readonly run_status: RunStatus;
  readonly error: RunError | null;
}

/** The last checkpoint of a task's runs. */
export interface TaskCheckpoint {
  readonly checkpoint_id: string;
  /** `true` if the thread has no newer checkpoint. */
  readonly is_newest: boolean;
  /** Channels that the runs wrote to. */
  readonly written: readonly string[];
}

/** Tasks finalized with one of these states, or unfinalized with one of these run statuses. */
export interface TaskStateFilter {
  readonly finalized: readonly string[];
  readonly run_statuses: readonly RunStatus[];
}

export interface A2aTaskQuery {
  readonly assistant_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly states?: TaskStateFilter | undefined;
  /** ISO-8601: only tasks whose state began then or later. */
  readonly since?: string | undefined;
  /** Keyset cursor: only tasks after this one. */
  readonly after?: { readonly at: string; readonly task_id: string } | undefined;
  readonly limit: number;
}

export type A2aTaskRepository = ReturnType<typeof a2aTaskRepository>;

const AT = 'coalesce(t.state_at, r.updated_at)';
/** As precise as a position in the list: PostgreSQL has microseconds. */
const AT_MS: DialectSql = { sqlite: raw(AT), postgres: raw(`date_trunc('milliseconds', ${AT})`) };
/** A task that has ended needs no search for its runs. */
const RUN_STATUS = `case when t.state is not null then r.status else coalesce((
  select e.status from a2a_turns u join runs e on e.run_id = u.run_id
  where u.task_id = t.task_id and u.is_stored = 0 and e.status in ('pending', 'running') order by u.seq limit 1
), r.status) end`;
const COLUMNS = sql`${columns(
  'a2a_tasks',
  't.task_id, t.thread_id, t.assistant_id, t.context_id, t.created_at, t.run_id, t.state, t.reason, t.artifacts',
)}, ${raw(AT)} as ${text('at')}, ${raw(RUN_STATUS)} as ${text<'run_status', RunStatus>('run_status')},
  ${columns('runs', 'r.error')}`;
type StoredTask = RowOf<typeof COLUMNS>;
const FROM = raw('a2a_tasks t join runs r on r.run_id = t.run_id');

/** Tasks joined with their newest run; deleting that run hides the task. */
export function a2aTaskRepository(db: Db) {
  return {
    async get(task_id: string, visibility?: Visibility): Promise<A2aTaskRow | undefined> {
      const wanted = and([sql`t.task_id = ${task_id}`, threadVisible('t.thread_id', visibility)]);
      const row = await db.get(sql`select ${COLUMNS} from ${FROM} where ${wanted}`);
      return row && rowOf(db.cipher, row);
    },

    /** Newest state first. */
    async list(query: A2aTaskQuery, visibility?: Visibility): Promise<A2aTaskRow[]> {
      const rows = await db.all(sql`
        select ${COLUMNS} from ${FROM} where ${conditions(query, visibility)}
        order by ${AT_MS} desc, t.task_id desc limit ${query.limit}`);
      return rows.map((row) => rowOf(db.cipher, row));
    },

    async count(query: Omit<A2aTaskQuery, 'limit' | 'after'>, visibility?: Visibility): Promise<number> {
      const row = await db.get(sql`
        select count(*) as ${number('total')} from ${FROM} where ${conditions(query, visibility)}`);
      return row?.total ?? 0;
    },

    /** Unfinalized tasks whose runs have ended, in run order after `after` (keyset pagination). */
    unfinalized: (after: string | undefined, limit: number): Promise<A2aTaskRow[]> =>
      page(db, [raw('t.state is null'), HAS_ENDED], after, limit),

    /** The same for the tasks of the given runs, without paging. */
    async unfinalizedOf(run_ids: readonly string[]): Promise<A2aTaskRow[]> {
      const isOfRuns = sql`t.task_id in (
        select u.task_id from a2a_turns u where u.is_stored = 0 and ${isOneOf('u.run_id', run_ids)})`;
      const rows = await db.all(sql`select ${COLUMNS} from ${FROM} where ${and([isOfRuns, HAS_ENDED])}`);
      return decryptable(db.cipher, rows);
    },

    /** Tasks in `states` with subscribers whose thread has moved on; paged like `unfinalized`. */
    superseded: (
      states: readonly string[],
      after: string | undefined,
      limit: number,
    ): Promise<A2aTaskRow[]> =>
      page(db, [sql`t.state in ${list(states)}`, HAS_SUBSCRIBERS, IS_SUPERSEDED], after, limit),

    async isSuperseded(task_id: string): Promise<boolean> {
      const row = await db.get(sql`select 1 from ${FROM} where t.task_id = ${task_id} and ${IS_SUPERSEDED}`);
      return row !== undefined;
    },

    turns: (task_id: string): Promise<A2aTurn[]> => listTurns(db, task_id),

    runsPendingArtifacts: (task_id: string): Promise<string[]> => runsPendingArtifacts(db, task_id),

    finalize: (finalization: TaskFinalization): Promise<boolean> =>
      db.transaction('sync', (tx) => finalizeTask(tx, finalization)),

    /** The last checkpoint that the runs wrote on a thread, and the channels they changed. */
    async lastCheckpoint(thread_id: string, run_ids: readonly string[]): Promise<TaskCheckpoint | undefined> {
      const row = await db.get(sql`
        select ${columns('checkpoints', 'l.checkpoint_id, l.versions')}, (
          select p.versions from checkpoints p where p.thread_id = ${thread_id} and p.ns = '' and p.checkpoint_id = (
            select f.parent_id from checkpoints f
            where f.thread_id = ${thread_id} and f.ns = '' and ${isOneOf('f.run_id', run_ids)}
            order by f.checkpoint_id limit 1)
        ) as ${nullable(text('versions_before'))}
        from checkpoints l where l.thread_id = ${thread_id} and l.ns = '' and ${isOneOf('l.run_id', run_ids)}
        order by l.checkpoint_id desc limit 1`);
      if (!row) return undefined;
      const { checkpoint_id } = row;
      const later = await db.get(sql`
        select 1 from checkpoints
        where thread_id = ${thread_id} and ns = '' and checkpoint_id > ${checkpoint_id} limit 1`);
      const before: Versions = JSON.parse(row.versions_before ?? '{}');
      const now: Versions = JSON.parse(row.versions);
      const written = Object.keys(now).filter((channel) => now[channel] !== before[channel]);
      return { checkpoint_id, is_newest: later === undefined, written };
    },
  };
}

const HAS_ENDED = raw(`${RUN_STATUS} not in ('pending', 'running')`);
const HAS_SUBSCRIBERS = raw('exists (select 1 from a2a_push_configs c where c.task_id = t.task_id)');
const IS_SUPERSEDED = raw(
  `exists (select 1 from threads h where h.thread_id = t.thread_id and h.state_updated_at > ${AT})`,
);

/** Keyset pagination by run id, unique per task. Fewer than `limit` rows means the end; skips undecryptable rows. */
async function page(
  db: Db,
  conditions: readonly Sql[],
  after: string | undefined,
  limit: number,
): Promise<A2aTaskRow[]> {
  const found: A2aTaskRow[] = [];
  for (let last = after; ; ) {
    const behind = last === undefined ? undefined : sql`t.run_id > ${last}`;
    const rows = await db.all(sql`
      select ${COLUMNS} from ${FROM} where ${and([...conditions, behind])} order by t.run_id limit ${limit}`);
    found.push(...decryptable(db.cipher, rows));
    if (rows.length < limit || found.length >= limit) return found.slice(0, limit);
    last = rows.at(-1)?.run_id;
  }
}

/** A task that fails to decrypt must not block finalizing the others. */
function decryptable(cipher: Cipher, rows: readonly StoredTask[]): A2aTaskRow[] {
  return rows.flatMap((row) => {
    try {
      return [rowOf(cipher, row)];
    } catch (error) {
      if (error instanceof DecryptionError) return [];
      throw error;
    }
  });
}

type Versions = Readonly<Record<string, string | number>>;

function rowOf(cipher: Cipher, row: StoredTask): A2aTaskRow {
  decryptTextColumns(cipher, row, { reason: REASON_COLUMN });
  return decryptJsonColumns(cipher, row, { artifacts: ARTIFACTS_COLUMN, error: 'runs.error' });
}

function conditions(
  { assistant_id, thread_id, states, since, after }: Omit<A2aTaskQuery, 'limit'>,
  visibility: Visibility | undefined,
): Sql {
  return and([
    assistant_id === undefined ? undefined : sql`t.assistant_id = ${assistant_id}`,
    thread_id === undefined ? undefined : sql`t.thread_id = ${thread_id}`,
    states &&
      or([
        sql`t.state in ${list(states.finalized)}`,
        sql`t.state is null and ${raw(RUN_STATUS)} in ${list(states.run_statuses)}`,
      ]),
    since === undefined ? undefined : sql`${AT_MS} >= ${since}`,
    after && sql`(${AT_MS}, t.task_id) < (${after.at}, ${after.task_id})`,
    threadVisible('t.thread_id', visibility),
  ]);
}
