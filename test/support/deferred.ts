import type { PostgresSession, PostgresTransaction } from '../../src/db/engines/postgres-db.ts';

/** Executes a body on a session that has no batches: deferred statements before the next one, and before its end. */
export async function withDeferred<T>(
  session: PostgresSession,
  body: (session: PostgresTransaction) => Promise<T>,
): Promise<T> {
  const deferred: (() => Promise<void>)[] = [];
  const executeDeferred = async () => {
    for (const execute of deferred.splice(0)) await execute();
  };
  /** Queries of one turn of the event loop keep their order. */
  let last: Promise<unknown> = Promise.resolve();
  const result = await body({
    query(text, values) {
      const next = last.then(async () => {
        await executeDeferred();
        return session.query(text, values);
      });
      last = next.catch(() => {});
      return next;
    },
    defer(text, values) {
      const executed = { changes: Number.NaN };
      deferred.push(async () => {
        executed.changes = (await session.query(text, values)).changes;
      });
      return executed;
    },
  });
  await executeDeferred();
  return result;
}
