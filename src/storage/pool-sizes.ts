import { Unavailable } from '../core/errors.ts';
import type { Db } from '../db/db.ts';
import type { ServerInfo } from '../db/engines/postgres-server.ts';
import { liveWorkers } from './queue/workers.ts';

/** Connections of a process to PostgreSQL, by purpose. */
export interface PoolSizes {
  readonly total: number;
  /** For requests. */
  readonly requests: number;
  /** For runs and all other background work. */
  readonly work: number;
  /** For the thread that renews leases: nothing may delay it. */
  readonly heartbeat: number;
  /** For notifications. */
  readonly listener: number;
}

/** Divides the connections that a process may open. */
export function poolSizes(total = 20): PoolSizes {
  const [heartbeat, listener] = [1, 1];
  const shared = total - heartbeat - listener;
  const requests = Math.ceil((shared * 5) / 9);
  return { total, requests, work: shared - requests, heartbeat, listener };
}

/**
 * Compares the connections that all processes may open with those that the server grants. Returns a warning if they may
 * run out; throws `Unavailable` if this process alone exceeds them. Behind a pooler the server does not see them.
 */
export async function checkConnections(
  db: Db,
  { is_pooled, allowed_connections: allowed }: ServerInfo,
  { total }: PoolSizes,
): Promise<string | undefined> {
  if (is_pooled || !Number.isFinite(allowed)) return undefined;
  const remedy = 'Lower "storage.max_connections", raise max_connections of PostgreSQL, or use PgBouncer.';
  if (total > allowed) {
    throw new Unavailable(
      `A process may open ${total} connections, but PostgreSQL grants this user only ${allowed}. ${remedy}`,
    );
  }
  const processes = (await liveWorkers(db)) + 1;
  if (processes * total <= allowed) return undefined;
  return `${processes} processes may open ${processes * total} connections, but PostgreSQL grants this user only ${allowed}. ${remedy}`;
}
