import { type Backoff, backoffMs, systemRandom } from '../../../core/backoff.ts';
import type { Logger } from '../../../core/logger.ts';
import { sleep } from '../../../core/timers.ts';
import type { Served } from './live-revisions.ts';

const BACKOFF: Backoff = { first_ms: 100, longest_ms: 10_000 };

export interface WorkerStartDeps {
  /** Aborts when the deployment is closed. */
  readonly closing: AbortSignal;
  readonly logger: Logger;
}

/**
 * Lets a serving revision claim runs. Resolves after the first attempt; if that fails, the revision keeps answering
 * requests, and the attempt is repeated until it succeeds or the revision retires. Does not reject.
 */
export async function startWorkers(served: Served, deps: WorkerStartDeps): Promise<void> {
  if (!(await tryStart(served, deps))) void startLater(served, deps);
}

async function startLater(served: Served, deps: WorkerStartDeps): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    await sleep(backoffMs(failures, BACKOFF, systemRandom), deps.closing);
    if (deps.closing.aborted || !served.tracked.isServing) return;
    if (await tryStart(served, deps)) return;
  }
}

async function tryStart({ app, revision_id }: Served, { logger }: WorkerStartDeps): Promise<boolean> {
  try {
    await app.ready();
  } catch (error) {
    logger.error('the serving revision cannot execute runs yet, retrying', { revision_id, error });
    return false;
  }
  logger.info('revision serves', { revision_id });
  return true;
}
