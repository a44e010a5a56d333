import type { ThreadExpiry } from '../schemas/threads.ts';
import type { Reader } from './db.ts';
import { raw, type Sql, sql } from './sql.ts';
import { nowPlus, nowPlusMinutes } from './time.ts';

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

/**
 * For an `update threads set …` that gives the thread another state: the time of one that keeps its newest checkpoint
 * starts again with each (CONTRACT §12).
 */
export const EXPIRY_AFTER_STATE = sql`expires_at =
  case when ttl_strategy = 'keep_latest' then ${nowPlusMinutes('ttl_minutes')} else expires_at end`;

/** Undefined for a thread that stays. */
export async function threadExpiry(reader: Reader, thread_id: string): Promise<ThreadExpiry | undefined> {
  return reader.get<ThreadExpiry>(sql`select ttl_strategy as strategy, ttl_minutes, expires_at from threads
    where thread_id = ${thread_id} and ttl_strategy is not null`);
}
