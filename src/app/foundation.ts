import type { Config } from '../config/schema.ts';
import { closeAll } from '../core/lifecycle.ts';
import type { Logger } from '../core/logger.ts';
import { answerAboutSteps } from '../events/current-steps.ts';
import { LiveRuns } from '../events/writer.ts';
import type { QueueReport } from '../storage/queue/context.ts';
import { openStorage } from '../storage/storage.ts';
import { openBus } from './bus.ts';
import { openEncryptor } from './encryption.ts';
import type { Foundation, FoundationOptions } from './place.ts';
import { runWebhookRules } from './webhooks.ts';

/** Opens the database and the bus. Rejects as `openStorage` does. */
export async function openFoundation(config: Config, options: FoundationOptions): Promise<Foundation> {
  const { logger, clock, worker_id, stop, placement, owned } = options;
  const encryptor = await openEncryptor(config);
  const storage = await openStorage({
    ...config.storage,
    owned,
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
