import { backoffMs, systemRandom } from '../core/backoff.ts';
import { systemClock } from '../core/clock.ts';
import { Unavailable } from '../core/errors.ts';
import { sleep } from '../core/timers.ts';
import { isHostFailure, postgresOpenError } from '../db/engines/postgres-errors.ts';
import type { MigrationLog } from '../db/migrate.ts';

const BACKOFF = { first_ms: 250, longest_ms: 5000 };

/** How long a server waits for its database. */
export interface WaitRules {
  readonly url: string;
  /** How long a server waits for a PostgreSQL that cannot be reached, seconds; not at all by default. */
  readonly wait_seconds?: number | undefined;
  /** Ends that wait. */
  readonly stop?: AbortSignal | undefined;
  readonly log?: { readonly warn: MigrationLog } | undefined;
}

/**
 * Repeats the first statement of a start until a host of the URL answers: a database often starts together with its servers,
 * and a fail-over may be under way. Reports it once. Rejects with the last error after `wait_seconds` or when `stop` aborts,
 * and at once if waiting does not help: for a refused password, a missing database, a wrong certificate.
 */
export async function untilReachable<T>(
  connect: () => Promise<T>,
  { url, wait_seconds = 0, stop, log }: WaitRules,
): Promise<T> {
  const deadline = systemClock.monotonic() + wait_seconds * 1000;
  for (let failures = 1; ; failures++) {
    try {
      return await connect();
    } catch (error) {
      const left_ms = deadline - systemClock.monotonic();
      if (!isAway(error) || left_ms <= 0 || stop?.aborted) throw error;
      if (failures === 1) log?.warn(`${reasonOf(url, error)} Waiting for it.`, { wait_seconds });
      await sleep(Math.min(left_ms, backoffMs(failures, BACKOFF, systemRandom)), stop);
    }
  }
}

function isAway(error: unknown): boolean {
  return error instanceof Unavailable && isHostFailure(error.cause);
}

function reasonOf(url: string, error: unknown): string {
  const named = postgresOpenError(url, error);
  return named instanceof Error ? `${named.message}.` : '';
}
