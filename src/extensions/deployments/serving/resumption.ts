import { type Backoff, backoffMs, systemRandom } from '../../../core/backoff.ts';
import { isDiskFull } from '../../../core/errors.ts';
import { isTemporary } from '../../../core/failure-class.ts';
import type { Logger } from '../../../core/logger.ts';
import { sleep } from '../../../core/timers.ts';
import type { ServedRevision } from '../services/plane.ts';

/** The canary at the time of the restart, if there was one. `end`: ends it as a canary. */
export interface ResumedCanary {
  readonly find: () => Promise<ServedRevision | undefined>;
  readonly end: (revision_id: string) => Promise<boolean>;
}

const BACKOFF: Backoff = { first_ms: 100, longest_ms: 10_000 };

/**
 * Retries while the database is unavailable or its disk is full: deployments must serve again after an outage.
 * `undefined` if the signal aborts meanwhile. Rejects with any other failure.
 */
export async function untilAvailable<T>(
  attempt: () => Promise<T>,
  { ended, logger }: { readonly ended: AbortSignal; readonly logger: Logger },
): Promise<T | undefined> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTemporary(error) && !isDiskFull(error)) throw error;
      logger.error('cannot serve a deployment yet, retrying', { error });
    }
    await sleep(backoffMs(failures, BACKOFF, systemRandom), ended);
    if (ended.aborted) return undefined;
  }
}
