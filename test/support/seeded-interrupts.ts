import { toJson } from '../../src/core/json.ts';
import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { THREAD_COLUMNS } from '../../src/storage/threads/row.ts';

/** Gives each interrupted thread of `seedThreads` `count` interrupts, of tasks of their own. Their ids, in no order. */
export async function seedInterrupts(db: Db, count: number): Promise<string[]> {
  const threads = await db.all(
    sql`select ${columns('threads', 'thread_id')} from threads where status = 'interrupted'`,
  );
  const ids: string[] = [];
  await db.transaction('async', async (tx) => {
    for (const { thread_id } of threads) {
      const interrupts = Array.from({ length: count }, (_, n) => ({
        id: `${thread_id}:${n}`,
        value: { question: 'Send it?', n },
      }));
      ids.push(...interrupts.map(({ id }) => id));
      const byTask = Object.fromEntries(interrupts.map((each, n) => [`task-${n}`, [each]]));
      await tx.run(sql`
        update threads set interrupts = ${tx.cipher.encryptJson(THREAD_COLUMNS.interrupts, toJson(byTask))}
        where thread_id = ${thread_id}`);
    }
  });
  if (db.dialect === 'postgres') await db.run(raw('analyze'));
  return ids;
}
