import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { NewDelivery } from '../../src/storage/webhooks/enqueue.ts';

export function delivery(given: Partial<NewDelivery> = {}): NewDelivery {
  return { kind: 'run', url: 'https://receiver.example/hook', body: '{"n":1}', ...given };
}

/** Lets time go by for everything that waits in the outbox: instead of waiting, all its times move back. */
export async function elapse(db: Db, ms: number): Promise<void> {
  const rows = await db.all(
    sql`select ${columns('webhook_outbox', 'delivery_id, next_at, round_at, created_at')} from webhook_outbox`,
  );
  const earlier = (at: string) => new Date(Date.parse(at) - ms).toISOString();
  for (const { delivery_id, next_at, round_at, created_at } of rows) {
    await db.run(sql`update webhook_outbox set next_at = ${earlier(next_at)}, round_at = ${earlier(round_at)},
      created_at = ${earlier(created_at)} where delivery_id = ${delivery_id}`);
  }
}
