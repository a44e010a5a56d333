import type { CommitMode, Db } from '../../src/db/db.ts';
import { type DialectName, sql } from '../../src/db/sql.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import type { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import type { Activity, Operation } from './scheduler.ts';
import { HOLE, type Statement } from './statements.ts';

export type Rows = Record<string, unknown>[];

/** A part of the queue that can be switched off, by changing what it asks of the database and what it is answered. */
export interface Mechanism {
  readonly what: string;
  /** Where it matters. */
  readonly engines: readonly DialectName[];
  /** Before a transaction. */
  before?(operation: Operation, monitor: Db): Promise<void>;
  durability?(asked: CommitMode, activity: Activity): CommitMode;
  /** Executed before a statement. */
  prelude?(asked: Statement, operation: Operation): Statement | undefined;
  /** What is executed instead; undefined for nothing, which changes no row and finds none. */
  statement?(asked: Statement, operation: Operation): Statement | undefined;
  answer?(asked: Statement, rows: Rows, operation: Operation): Rows;
  queue?(queue: RunQueue): Partial<RunQueue>;
  writes?(writes: WriteBuffer): WriteBuffer;
}

const BOTH: readonly DialectName[] = ['sqlite', 'postgres'];
const POSTGRES: readonly DialectName[] = ['postgres'];

const LOCK_THREAD = /^\s*select 1 from threads where thread_id = \0 for update/;
const LOCK_HEAD = /^\s*select run_id, state, [^;]* batches\s+from run_queue where thread_id = \0/;
const CLOSE_LOG = /^\s*update thread_log set length = [^;]* and length is null/;
const REPAIR_LOG = /^\s*update thread_log set length = [^;]* run_id not in/;
const PROMOTE = /^\s*update run_queue set state = 'ready'\s+where seq = \(/;
const RUN_END = /^\s*select r\.run_id, r\.thread_id, r\.assistant_id/;
/** Verbs that end runs for workers that cannot. */
const RECOVERY = ['reap', 'requeue', 'requeueUnknown'];

/** A statement that is not executed: where `verbs` are given, only within those. */
const drop =
  (which: RegExp, verbs?: readonly string[]) =>
  (asked: Statement, { activity: { verb = '' } }: Operation) =>
    which.test(asked.text) && (!verbs || verbs.includes(verb)) ? undefined : asked;

const replace = (from: string | RegExp, to: string, where = /^/) => {
  return (asked: Statement) =>
    where.test(asked.text) ? { ...asked, text: asked.text.replace(from, to) } : asked;
};

/** What each transaction would have read before it locked anything: heads by thread. */
const stale = new WeakMap<Operation, Map<unknown, Rows>>();

export const MECHANISMS: Readonly<Record<string, Mechanism>> = {
  'thread-lock': {
    what: 'verbs lock the thread',
    engines: POSTGRES,
    statement: replace(/( from threads where thread_id = \0) for update/, '$1'),
  },
  'head-lock': {
    what: 'verbs lock the head of the thread against claims and attempts',
    engines: POSTGRES,
    statement: replace(/ for update\s*$/, '', LOCK_HEAD),
  },
  'lock-order': {
    what: 'everybody locks the thread before its head',
    engines: POSTGRES,
    prelude: ({ text, values }, { activity }) =>
      LOCK_THREAD.test(text) && activity.verb === 'finish'
        ? {
            text: `select 1 from run_queue where thread_id = ${HOLE} and state = 'running' for update`,
            values,
          }
        : undefined,
  },
  'fresh-rows': {
    what: 'verbs decide on rows that they read under the lock',
    engines: BOTH,
    async before(operation, monitor) {
      const heads = (await monitor.all(
        sql`select * from run_queue where state in ('ready', 'running')`,
      )) as Rows[number][];
      stale.set(
        operation,
        Map.groupBy(heads, ({ thread_id }) => thread_id),
      );
    },
    answer: ({ text, values: [thread_id] }, rows, operation) =>
      LOCK_HEAD.test(text) ? (stale.get(operation)?.get(thread_id) ?? []) : rows,
  },
  'fencing-token': {
    what: 'an attempt writes and ends under its own token alone',
    engines: BOTH,
    statement: replace('and lease_token = \0', 'and (true or lease_token = \0)', /run_queue/),
    answer: ({ text }, rows, { activity: { token } }) =>
      LOCK_HEAD.test(text) && token ? rows.map((row) => ({ ...row, lease_token: token })) : rows,
  },
  'rollback-fence': {
    what: 'an attempt that was rolled back writes nothing more',
    engines: BOTH,
    statement: replace("and (cancel_action is null or cancel_action <> 'rollback')", ''),
  },
  'batch-order': {
    what: 'a batch is refused where the one before it was lost',
    // A crash of SQLite is one of the server, whose attempts are gone too.
    engines: POSTGRES,
    statement: replace(
      'and batches >= \0 and batches <= \0',
      'and (true or batches >= \0 and batches <= \0)',
    ),
    queue: ({ finish, requeue: release }) => ({
      finish: (lease, end) => finish(lease, { ...end, batch: unordered(end.batch) }),
      requeue: (lease, how) => release(lease, { ...how, batch: unordered(how.batch) }),
    }),
  },
  'materialised-claim': {
    what: 'a claim takes no more than it asked for',
    engines: POSTGRES,
    statement: ({ text, values }) => {
      const [, due, update, returning] = CLAIM.exec(text) ?? [];
      if (!due) return { text, values };
      // The values of the rows that are looked for come last now.
      const holes = due.split(HOLE).length - 1;
      return {
        text: `${update} where seq in (${due}) ${returning}`,
        values: [...values.slice(holes), ...values.slice(0, holes)],
      };
    },
  },
  'reap-recheck': {
    what: 'a reaper looks again whether the worker is gone',
    engines: BOTH,
    answer: ({ text }, rows) => (/^\s*select 1 as gone/.test(text) ? [{ gone: 1 }] : rows),
  },
  'log-closing': {
    what: 'the end of a run closes its entry in the log of the thread',
    engines: BOTH,
    statement: (asked, operation) =>
      REPAIR_LOG.test(asked.text) ? asked : drop(CLOSE_LOG)(asked, operation),
  },
  'log-repair': {
    what: 'an entry that was left open refuses no claim',
    engines: BOTH,
    statement: drop(REPAIR_LOG),
  },
  'stray-promotion': {
    what: 'what waits behind a place without a run goes on',
    engines: BOTH,
    statement: drop(PROMOTE, ['claim']),
  },
  'recovery-webhook': {
    what: 'a run that is ended for its worker tells its webhook',
    engines: BOTH,
    statement: drop(RUN_END, RECOVERY),
  },
  'recovery-cron-note': {
    what: 'a run that is ended for its worker is noted for its cron',
    engines: BOTH,
    statement: drop(/^\s*update cron_fires set status/, RECOVERY),
  },
  'recovery-thread': {
    what: 'a run that is ended for its worker takes its own thread with it',
    engines: BOTH,
    statement: drop(/^\s*delete from threads/, RECOVERY),
  },
  'recovery-promotion': {
    what: 'a run that is ended for its worker makes room for the next',
    engines: BOTH,
    statement: drop(PROMOTE, RECOVERY),
  },
  progress: {
    what: 'attempts that complete a superstep are not held against the run',
    engines: BOTH,
    answer: ({ text }, rows) =>
      /^\s*select count\(\*\) as n from checkpoints/.test(text) ? [{ n: 0 }] : rows,
  },
  'failure-count': {
    what: 'a run whose attempts fail again and again ends',
    engines: BOTH,
    statement: replace('failures = \0', 'failures = 0 * \0'),
  },
  'storage-is-no-failure': {
    what: 'what storage or the server is to blame for is not held against the run',
    engines: BOTH,
    statement: (asked) =>
      asked.values.includes('storage failed') ? replace('failures = \0', 'failures = 1 + \0')(asked) : asked,
  },
  'due-order': {
    what: 'a new run goes behind one whose time has come',
    engines: BOTH,
    statement: replace("then 'blocked' else 'ready' end", "then 'ready' else 'ready' end"),
  },
  'unknown-claims': {
    what: 'a worker gives back what it claimed without hearing of it',
    engines: BOTH,
    queue: () => ({ requeueUnknown: async () => undefined }),
  },
  'batch-restore': {
    what: 'what a refused release had taken becomes part of the end',
    engines: BOTH,
    writes: (writes) => Object.assign(writes, { undrain() {} } satisfies Partial<WriteBuffer>),
  },
  'durable-frames': {
    what: 'frames of resumable runs are shown when nothing can take them back',
    engines: BOTH,
    durability: (asked, { verb }) => (verb === 'write' ? 'async' : asked),
  },
  'ancestors-stay': {
    what: 'checkpoints that others go on from stay when their run goes',
    engines: BOTH,
    statement: replace(
      'and (ns, checkpoint_id) not in',
      'and 0 not in (1) or false and (ns, checkpoint_id) not in',
    ),
  },
  'executing-keeps-all': {
    what: 'no checkpoint goes while another run executes, which may have started from it',
    engines: BOTH,
    answer: ({ text }, rows) =>
      /^\s*select 1 from run_queue\s+where thread_id = \0 and state = 'running' and run_id <> \0/.test(text)
        ? []
        : rows,
  },
};

/** The rows that are due, the update, and what it returns. */
const CLAIM = /with due as materialized \((.*?)\)\s*(update run_queue .*?)\s*from due .*?(returning .*)$/s;

function unordered<Batch extends { readonly follows?: number }>(batch: Batch): Batch {
  const { follows: _follows, ...rest } = batch;
  return rest as Batch;
}
