import { type Clock, timestamp } from '../../src/core/clock.ts';
import type { CommitMode, Db, Transaction } from '../../src/db/db.ts';
import { plainCipher } from '../../src/db/encryption/cipher.ts';
import type { Sql } from '../../src/db/sql.ts';
import type { Losses } from './losses.ts';
import type { Mechanism, Rows } from './mechanisms.ts';
import type { Operation, Process, Scheduler } from './scheduler.ts';
import { atTime, brief, flat, type Statement, sqlOf } from './statements.ts';

export interface Gates {
  readonly scheduler: Scheduler;
  /** Looks at the database beside all processes. */
  readonly monitor: Db;
  readonly clock: Clock;
  /** What a database that crashes takes back. */
  readonly losses: Losses;
  /** The part of the queue that is switched off. */
  readonly without: Mechanism | undefined;
  /** Hears of each commit that changed something. */
  readonly committed: (operation: Operation) => void;
}

type How = 'all' | 'get' | 'run';

/**
 * A database as one process sees it. Before each step that others may notice, it waits for the scheduler: before a
 * transaction and each of its statements, before its commit, and between that and its answer. On SQLite a transaction
 * is one step, for nobody can come in between.
 */
export function gatedDb(gates: Gates, process: Process): Db {
  const { scheduler, monitor } = gates;
  const { dialect } = monitor;

  function read<T>(query: Sql, how: 'all' | 'get'): Promise<T> {
    return scheduler.operate(process, async (operation) => {
      await scheduler.pass(operation, 'begin', brief(flat(query, dialect)));
      const db = scheduler.lane(operation);
      const rows = await scheduler.call(operation, execute(gates, operation, db, query, how));
      scheduler.release(operation);
      await scheduler.pass(operation, 'answer', '');
      return rows as T;
    });
  }

  return {
    dialect,
    cipher: plainCipher,
    all: <Row>(query: Sql) => read<Row[]>(query, 'all'),
    get: <Row>(query: Sql) => read<Row | undefined>(query, 'get'),
    run(query, durability = 'sync') {
      return this.transaction(durability, (tx) => tx.run(query));
    },
    transaction: (durability, body) =>
      scheduler.operate(process, (operation) => transact(gates, operation, durability, body)),
    async [Symbol.asyncDispose]() {},
  };
}

async function transact<T>(
  gates: Gates,
  operation: Operation,
  asked: CommitMode,
  body: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { scheduler, monitor, losses, without } = gates;
  const { dialect } = monitor;
  const durability = without?.durability?.(asked, operation.activity) ?? asked;
  if (without?.before) await scheduler.call(operation, without.before(operation, gates.monitor));
  await scheduler.pass(operation, 'begin', durability);
  const db = scheduler.lane(operation);
  // The database is busy with `begin` until the body begins, and with the end when it is over. On SQLite it is busy with
  // the body too, which may take several turns of the event loop and waits at no gate.
  const bodyWaits = dialect === 'postgres';
  scheduler.calls(operation, 1);
  if (dialect === 'sqlite' && durability === 'async') await losses.save();
  try {
    const value = await db.transaction(durability, async (tx) => {
      if (bodyWaits) scheduler.calls(operation, -1);
      operation.tries += 1;
      operation.wrote = false;
      try {
        const gated = gatedTransaction(gates, operation, tx);
        const result = await body(gated);
        await gated.executeDeferred();
        if (dialect === 'sqlite') return result;
        await scheduler.pass(operation, 'commit', operation.wrote ? durability : '');
        if (durability === 'async' && operation.wrote) await scheduler.call(operation, losses.save());
        return result;
      } finally {
        if (bodyWaits) scheduler.calls(operation, 1);
      }
    });
    if (operation.wrote) gates.committed(operation);
    if (operation.wrote && durability === 'sync') losses.forget();
    scheduler.release(operation);
    scheduler.calls(operation, -1);
    await scheduler.pass(operation, 'answer', '');
    return value;
  } catch (error) {
    if (operation.calls > 0) scheduler.calls(operation, -1);
    throw error;
  }
}

interface GatedTransaction extends Transaction {
  executeDeferred(): Promise<void>;
}

/** A deferred statement is a step of its own, before the next one or before the commit: others may come in between. */
function gatedTransaction(gates: Gates, operation: Operation, tx: Transaction): GatedTransaction {
  const { scheduler, monitor } = gates;
  const { dialect } = monitor;
  let isFirst = true;
  const deferred: (() => Promise<void>)[] = [];
  /** Statements that are asked for together are executed one after the other, as on one connection. */
  let last: Promise<unknown> = Promise.resolve();
  async function executeDeferred(): Promise<void> {
    for (const execute of deferred.splice(0)) await execute();
  }
  function step<T>(query: Sql, how: How): Promise<T> {
    const next = last.then(async () => {
      await executeDeferred();
      return executeNext<T>(query, how);
    });
    last = next.catch(() => {});
    return next;
  }
  async function executeNext<T>(query: Sql, how: How): Promise<T> {
    const before = gates.without?.prelude?.(flat(query, dialect), operation);
    if (before) await executeNext(sqlOf(before), 'all');
    if (dialect === 'postgres') {
      // `begin` has let the first one through.
      if (!isFirst) await scheduler.pass(operation, 'statement', brief(flat(query, dialect)));
      isFirst = false;
      return (await scheduler.call(operation, execute(gates, operation, tx, query, how))) as T;
    }
    return (await execute(gates, operation, tx, query, how)) as T;
  }
  return {
    dialect,
    cipher: tx.cipher,
    all: <Row>(query: Sql) => step<Row[]>(query, 'all'),
    get: <Row>(query: Sql) => step<Row | undefined>(query, 'get'),
    run: (query) => step<number>(query, 'run'),
    defer(query) {
      const result = { changes: Number.NaN };
      deferred.push(async () => {
        result.changes = await executeNext<number>(query, 'run');
      });
      return result;
    },
    executeDeferred,
  };
}

/** At the time of the test, and as the mechanism that is switched off leaves it. */
async function execute(
  { monitor: { dialect }, clock, without }: Gates,
  operation: Operation,
  on: Pick<Transaction, How>,
  query: Sql,
  how: How,
): Promise<unknown> {
  const asked = flat(query, dialect);
  const statement = without?.statement ? without.statement(asked, operation) : asked;
  if (!statement) return how === 'all' ? [] : how === 'get' ? undefined : 0;
  const timed = sqlOf(atTime(statement, timestamp(clock.now()), dialect));
  if (how === 'run') {
    const changes = await on.run(timed);
    operation.wrote ||= changes > 0;
    return changes;
  }
  const rows = await rowsOf(on, timed, how);
  operation.wrote ||= rows.length > 0 && !isQuery(asked);
  const answer = without?.answer ? without.answer(asked, rows, operation) : rows;
  return how === 'all' ? answer : answer[0];
}

async function rowsOf(on: Pick<Transaction, How>, query: Sql, how: 'all' | 'get'): Promise<Rows> {
  if (how === 'all') return (await on.all(query)) as Rows[number][];
  const row = await on.get(query);
  return row === undefined ? [] : [row as Rows[number]];
}

function isQuery({ text }: Statement): boolean {
  return /^\s*select\b/i.test(text);
}
