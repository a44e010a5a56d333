import type { JsonObject } from '../core/json.ts';

/** Keys of a thread's metadata that only the server writes: a client's are dropped (CONTRACT §1). */
const RESERVED = ['thread_id', 'run_id', 'cron_id', 'assistant_id'];

export function withoutReserved(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !RESERVED.includes(key)));
}
