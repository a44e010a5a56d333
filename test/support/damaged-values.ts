import type { Db } from '../../src/db/db.ts';
import { type Sql, sql } from '../../src/db/sql.ts';

/** A channel's newest value, or a task's write to it. */
interface Target {
  readonly thread_id: string;
  readonly channel: string;
}

/** What may happen to a stored value, as the change to its row, and how the server puts it. */
export interface Damage {
  readonly kind: string;
  readonly change: Sql;
  readonly reason: string;
}

export const DAMAGES: readonly Damage[] = [
  { kind: 'empty', change: sql`value = ${new Uint8Array()}`, reason: 'nothing was stored' },
  { kind: 'cut', change: sql`value = ${Buffer.from('["half a li')}`, reason: 'its JSON is damaged' },
  { kind: 'of an unknown type', change: sql`type = 'pickle'`, reason: 'it is of the unknown type "pickle"' },
  {
    kind: 'unknown to the library',
    change: sql`value = ${Buffer.from('{"lc":1,"type":"constructor","id":["no","such","Thing"],"kwargs":{}}')}`,
    reason: 'the LangGraph version of the graph does not support it',
  },
];

/** As a value is whose key is not configured any more. Databases without encryption take it for damaged JSON. */
export const SEALED_BY_ANOTHER: Damage = {
  kind: 'sealed under another key',
  change: sql`value = ${Buffer.concat([Buffer.of(0xc0), Buffer.from('sealed:zzzzzzzz:'), Buffer.alloc(64)])}`,
  reason: 'it cannot be decrypted',
};

/** Damages the channel's newest value in the thread's own graph. */
export async function damageValue(db: Db, { thread_id, channel }: Target, change: Sql): Promise<void> {
  const changed = await db.run(sql`update checkpoint_blobs set ${change}
    where thread_id = ${thread_id} and ns = '' and channel = ${channel} and version = (
      select max(version) from checkpoint_blobs where thread_id = ${thread_id} and ns = '' and channel = ${channel})`);
  if (changed !== 1) throw new Error(`There is no value of ${channel} to damage.`);
}

/** Damages everything that tasks wrote to the channel. */
export async function damageWrites(db: Db, { thread_id, channel }: Target, change: Sql): Promise<void> {
  const changed = await db.run(sql`update checkpoint_writes set ${change}
    where thread_id = ${thread_id} and channel = ${channel}`);
  if (changed === 0) throw new Error(`There are no writes to ${channel} to damage.`);
}
