import type { ThreadExpiry } from '../schemas/threads.ts';
import type { Reader } from './db.ts';
import { type DialectSql, raw, type Sql, sql } from './sql.ts';
import { nowPlus } from './time.ts';

/** What becomes of a thread, and when. */
export interface Ttl {
  /** The thread goes, or all but its newest checkpoint. */
  readonly strategy: ThreadExpiry['strategy'];
  /** Minutes from the moment that starts its time. */
  readonly ttl: number;
}

/** The values of `ttl_strategy, ttl_minutes, expires_at`, in this order; the time starts now. */
export function ttlValues(ttl: Ttl | undefined): Sql {
  if (!ttl) return raw('null, null, null');
  return sql`${ttl.strategy}, ${ttl.ttl}, ${nowPlus(ttl.ttl * 60_000)}`;
}

/** The time of a thread that keeps its newest checkpoint starts again with each one (CONTRACT §12). */
const STARTED_AGAIN: DialectSql = {
  sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (ttl_minutes * 60) || ' seconds')`,
  postgres: sql`clock_timestamp() + ttl_minutes * interval '1 minute'`,
};

/** For an `update threads set …` that gives the thread another state. */
export const EXPIRY_AFTER_STATE = sql`expires_at =
  case when ttl_strategy = 'keep_latest' then ${STARTED_AGAIN} else expires_at end`;

/** Undefined for a thread that stays. */
export async function threadExpiry(reader: Reader, thread_id: string): Promise<ThreadExpiry | undefined> {
  return reader.get<ThreadExpiry>(sql`select ttl_strategy as strategy, ttl_minutes, expires_at from threads
    where thread_id = ${thread_id} and ttl_strategy is not null`);
}
