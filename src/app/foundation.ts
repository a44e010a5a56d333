import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { closeAll } from '../core/lifecycle.ts';
import type { Logger } from '../core/logger.ts';
import { answerAboutSteps } from '../events/current-steps.ts';
import { LiveRuns } from '../events/writer.ts';
import type { QueueContext, QueueReport } from '../storage/queue/context.ts';
import { type OpenStorage, openStorage } from '../storage/storage.ts';
import { type OpenBus, openBus } from './bus.ts';
import { openEncryptor } from './encryption.ts';
import { OWNED_DATA } from './extensions.ts';
import { runWebhookRules } from './webhooks.ts';

/**
 * Database and bus of an app. Apps that share a foundation may serve side by side: each executes its own runs,
 * and streams of either follow the runs of both.
 */
export interface Foundation extends AsyncDisposable {
  readonly storage: OpenStorage;
  readonly bus: OpenBus;
  readonly live: LiveRuns;
}

/** Opens the database and the bus. Rejects as `openStorage` does. */
export async function openFoundation(
  config: Config,
  options: {
    readonly logger: Logger;
    readonly clock: Clock;
    readonly worker_id: string;
    readonly placement?: QueueContext['placement'];
    /** Aborts waiting for an unreachable database. */
    readonly stop?: AbortSignal | undefined;
  },
): Promise<Foundation> {
  const { logger, clock, worker_id, stop, placement } = options;
  const encryptor = await openEncryptor(config);
  const storage = await openStorage({
    ...config.storage,
    owned: OWNED_DATA,
    encryptor,
    log: logger,
    ...(stop && { stop }),
    webhooks: runWebhookRules(config),
    fairness: config.runs,
    report: queueReport(logger),
    placement,
  });
  try {
    const bus = await openBus({ config, notifications: storage.notifications, worker_id, clock, logger });
    const answers = answerAboutSteps(bus.bus, storage.runSteps.current);
    return {
      storage,
      bus,
      live: new LiveRuns(),
      [Symbol.asyncDispose]: () =>
        closeAll([
          () => answers[Symbol.dispose](),
          () => bus[Symbol.asyncDispose](),
          () => storage[Symbol.asyncDispose](),
        ]),
    };
  } catch (error) {
    await storage[Symbol.asyncDispose]();
    throw error;
  }
}

/** Logs problems from which the queue has recovered. */
function queueReport(logger: Logger): QueueReport {
  return ({ what, ...problem }) => {
    if (problem.error === undefined) logger.warn(what, { ...problem });
    else logger.error(what, { ...problem });
  };
}
