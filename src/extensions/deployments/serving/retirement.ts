import { closeAll } from '../../../core/lifecycle.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Served } from './live-revisions.ts';

/** Upper bound of an open-ended wait, ms: streams may last as long as their clients stay. */
const FOREVER_MS = 2 ** 31 - 1;

export interface RetirementDeps {
  /** Grace period for runs and requests, ms. */
  readonly drain_ms: number;
  /** Aborts when the deployment is closed, which ends all waiting. */
  readonly closing: AbortSignal;
  readonly end: (served: Served) => Promise<void>;
  readonly logger: Logger;
}

/** Draining revisions of a deployment. */
export class Retirement {
  readonly #deps: RetirementDeps;
  readonly #retiring = new Set<Promise<void>>();

  constructor(deps: RetirementDeps) {
    this.#deps = deps;
  }

  /** `at_once`: hands its runs over at their next checkpoint, without a grace period. */
  begin(served: Served, { at_once }: { readonly at_once: boolean }): void {
    const { drain_ms, logger } = this.#deps;
    const retiring = this.#retire(served, at_once ? 0 : drain_ms)
      .catch((error: unknown) => logger.error('an old revision did not shut down cleanly', { error }))
      .finally(() => this.#retiring.delete(retiring));
    this.#retiring.add(retiring);
  }

  /** Resolves when all revisions have ended. */
  async untilEnded(): Promise<void> {
    await Promise.all(this.#retiring);
  }

  /**
   * Drains runs or hands them over, then requests that need hosts; streams continue until their clients have
   * everything. A failing step does not skip the others.
   */
  async #retire(served: Served, runs_ms: number): Promise<void> {
    const { drain_ms, closing, end, logger } = this.#deps;
    const { app, mount, revision_id, tracked } = served;
    tracked.enter('draining');
    const stop = () => void app.stop(0).catch(() => {});
    closing.addEventListener('abort', stop, { once: true });
    const idle = mount.idle(drain_ms, closing);
    await closeAll([
      () => app.retire(runs_ms),
      () => idle,
      () => logger.info('old revision stopped executing runs', { revision_id }),
      () => app.endHosts(),
      () => tracked.hostsEnded(),
      () => mount.idle(FOREVER_MS, closing),
      () => closing.removeEventListener('abort', stop),
      () => end(served),
    ]);
    logger.info('old revision ended', { revision_id });
  }
}
