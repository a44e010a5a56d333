import type { ThreadTtl } from '../schemas/threads.ts';
import type { Ttl } from '../storage/threads/row.ts';

/**
 * What becomes of a thread: what was asked for, with the configuration's minutes where it names none. Undefined when
 * neither does, and the thread stays (CONTRACT §12).
 */
export function ttlOf(asked: ThreadTtl | undefined, standard: Ttl | undefined): Ttl | undefined {
  if (!asked) return standard;
  const ttl = asked.ttl ?? standard?.ttl;
  return ttl === undefined ? undefined : { strategy: asked.strategy, ttl };
}
