import { parentPort, workerData } from 'node:worker_threads';
import { threadMonotonic } from '../core/clock.ts';
import { writeSharedLease } from '../core/shared-lease.ts';
import { sleep } from '../core/timers.ts';
import type { Db } from '../db/db.ts';
import { openPostgres } from '../db/engines/postgres.ts';
import { passwordFrom } from '../db/engines/postgres-password.ts';
import { heartbeat, heartbeatAndSearch } from '../storage/queue/heartbeat.ts';
import { type HeartbeatReport, type HeartbeatThreadData, LEASE_MARGIN } from './heartbeat.ts';
import { HeartbeatMemory } from './heartbeat-memory.ts';
import { heartbeatMs, isLateRenewal } from './lease.ts';

/**
 * Renews the lease of a process while its event loop computes, over a connection of its own. Ends with a message from
 * the main thread.
 */
const { url, password_command, worker, lease_ms, max_stall_ms, shared, lease_fd, searches } =
  workerData as HeartbeatThreadData;
const memory = new HeartbeatMemory(shared);
const interval_ms = heartbeatMs(lease_ms);
/** A failed renewal is retried well before the lease ends, ms. */
const RETRY_MS = Math.min(1000, interval_ms / 4);

/** The server renewed it before it started this thread. */
let renewed_at = threadMonotonic();

const end = new AbortController();
parentPort?.once('message', () => end.abort());

const report = (message: HeartbeatReport) => parentPort?.postMessage(message);

/** Graph hosts stop their runs by it, also while this process is frozen. */
function shareLease(fd: number, renewed_at: number): void {
  const end_at = renewed_at + lease_ms;
  writeSharedLease(fd, { stop_at: end_at - lease_ms * LEASE_MARGIN, end_at });
}

/** A search that fails must not keep the lease from being renewed: the renewal after it does without. */
let hasFailed = false;

async function renew(db: Db): Promise<void> {
  const current = { ...worker, slots: memory.slots };
  const isSearch = searches && !hasFailed;
  hasFailed = isSearch;
  if (!isSearch) return heartbeat(db, current, lease_ms);
  const sent_at = threadMonotonic();
  const isFound = await heartbeatAndSearch(db, current, lease_ms);
  hasFailed = false;
  memory.nothing_lost_at = isFound ? 0 : sent_at;
  if (isFound) report({ has_lost_work: true });
}

/** Returns the time until the next renewal, ms. */
async function beat(db: Db): Promise<number> {
  memory.beat();
  // Before it is sent: the database counts from when it arrives.
  const sent_at = threadMonotonic();
  if (sent_at - memory.turned_at > max_stall_ms) {
    report({ stalled_ms: sent_at - memory.turned_at });
    return interval_ms;
  }
  try {
    await renew(db);
  } catch (error) {
    report({ error: error instanceof Error ? error.message : String(error) });
    return RETRY_MS;
  }
  if (sent_at > memory.held_until) memory.lapse();
  if (isLateRenewal(threadMonotonic() - renewed_at, interval_ms)) memory.renewLate();
  renewed_at = threadMonotonic();
  memory.held_until = sent_at + lease_ms;
  if (lease_fd !== undefined) shareLease(lease_fd, sent_at);
  return interval_ms;
}

{
  const password = password_command === undefined ? undefined : passwordFrom(password_command);
  await using db = openPostgres(url, { max_connections: 1, password });
  while (!end.signal.aborted) await sleep(await beat(db), end.signal);
}
