import { randomUUID } from 'node:crypto';
import { systemIds } from '../../src/core/ids.ts';
import type { LogLine } from '../../src/core/logger.ts';
import type { Db } from '../../src/db/db.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { migrate } from '../../src/db/migrate.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { ResolveHost, WebhookRules } from '../../src/services/webhooks/webhook-policy.ts';
import type { NewDelivery } from '../../src/storage/webhooks/enqueue.ts';
import { webhookOutbox } from '../../src/storage/webhooks/outbox.ts';
import { webhookSender } from '../../src/workers/webhook-request.ts';
import { type DispatchRules, WebhookDispatcher } from '../../src/workers/webhooks.ts';
import { delivery } from './outbox.ts';
import { project } from './project.ts';
import { WORKER } from './queued-runs.ts';
import { recordingLogger } from './recording-logger.ts';
import { policy } from './webhook-policy.ts';

interface Options {
  readonly rules?: Partial<DispatchRules>;
  readonly policy?: Partial<WebhookRules>;
  readonly resolve?: ResolveHost;
  readonly timeout_ms?: number;
}

const RULES: DispatchRules = {
  concurrency: 32,
  concurrency_per_host: 4,
  lease_ms: 60_000,
  backoff: { first_ms: 1000, longest_ms: 3_600_000 },
  give_up_ms: 86_400_000,
  secrets: [],
  headers: {},
};

const here: ResolveHost = async () => ['127.0.0.1'];

/** A dispatcher over a database, which may call this machine and works when it is told to. */
export function dispatching(db: Db, options: Options = {}) {
  const outbox = webhookOutbox(db);
  const bus = memoryBus();
  const log: LogLine[] = [];
  const waits_ms: (number | undefined)[] = [];
  const clock = { now: () => Date.parse('2026-11-20T12:00:00.500Z'), monotonic: () => 0 };
  const { resolve = here, timeout_ms = 10_000 } = options;
  const dispatcher = new WebhookDispatcher({
    outbox: {
      ...outbox,
      ack: (claim, attempt, verdict) => {
        waits_ms.push(verdict.outcome === 'retry' ? verdict.in_ms : undefined);
        return outbox.ack(claim, attempt, verdict);
      },
    },
    bus,
    sender: webhookSender({
      policy: policy({ disable_loopback: false, ...options.policy }, resolve),
      resolve,
      timeout_ms,
      connections: 4,
    }),
    clock,
    ids: { ...systemIds(clock), uuid4: randomUUID },
    worker_id: WORKER.worker_id,
    random: () => 0,
    logger: recordingLogger('debug', (line) => log.push(line)),
    rules: { ...RULES, ...options.rules },
  });
  return {
    outbox,
    dispatcher,
    bus,
    log,
    /** Time until the next try after each that was made, ms; `undefined` if there is none. */
    waits_ms,
    enqueue: (given: Partial<NewDelivery>) => outbox.enqueue(delivery(given)),
    /** Sends what is due, and waits for what comes of it. */
    async turn(): Promise<void> {
      while ((await dispatcher.tick()) === 0) await dispatcher.drained();
    },
    /** A delivery with its tries. */
    async look(delivery_id: string) {
      return { ...(await outbox.get(delivery_id)), attempts: await outbox.attemptsOf(delivery_id) };
    },
    [Symbol.asyncDispose]: () => dispatcher.stop(0),
  };
}

/** A dispatcher over an empty database of its own. */
export async function dispatchingAlone(options: Options = {}) {
  const folder = await project({});
  const db = openSqlite(folder.path('server.db'), { synchronous: 'normal' });
  await migrate(db);
  const open = dispatching(db, options);
  return {
    ...open,
    /** What becomes of a delivery to this address. */
    async send(url: string) {
      const delivery_id = await open.enqueue({ url });
      await open.turn();
      return open.look(delivery_id);
    },
    async [Symbol.asyncDispose]() {
      await open.dispatcher.stop(0);
      await db[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
