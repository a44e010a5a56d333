import { randomUUID } from 'node:crypto';
import { type Actor, systemActor, type User } from '../../src/auth/actor.ts';
import { type Clock, timestamp } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import type { LogLine } from '../../src/core/logger.ts';
import type { Db } from '../../src/db/db.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { type Cron, CronCreate, type CronRun } from '../../src/schemas/crons.ts';
import { assistantService } from '../../src/services/assistants/assistants.ts';
import { assistantRunDeletion } from '../../src/services/assistants/delete-runs.ts';
import { CronDeferrals } from '../../src/services/crons/cron-deferrals.ts';
import { cronTicks, type MissedPolicy } from '../../src/services/crons/cron-ticks.ts';
import { cronService } from '../../src/services/crons/crons.ts';
import { assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { cronFireRepository, cronRepository } from '../../src/storage/crons/crons.ts';
import { runQueue } from '../../src/storage/queue/queue.ts';
import { type Rider, Riders } from '../../src/storage/riders.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { newThread } from './queued-runs.ts';
import { recordingLogger } from './recording-logger.ts';
import { fixtureGraphs } from './services.ts';
import { policy } from './webhook-policy.ts';

export const NOON = '2026-06-01T12:00:00.000Z';
const ME = systemActor('r1');

/** Stands still until a test moves it: with time passing, or by a hand that sets it. */
export function settableClock(start = NOON) {
  let ms = Date.parse(start);
  let monotonic = 0;
  return {
    now: () => ms,
    monotonic: () => monotonic,
    /** Time goes by. */
    pass(by_ms: number) {
      ms += by_ms;
      monotonic += by_ms;
    },
    /** Somebody sets the clock. */
    set(to: string) {
      ms = Date.parse(to);
    },
  };
}

export interface CronServerOptions {
  readonly clock: Clock;
  readonly missed?: MissedPolicy;
  readonly rider?: Rider;
  readonly impersonate?: (user: User | null, request_id: string) => Actor;
  readonly rule_limit_ms?: number;
}

export type CronServer = Awaited<ReturnType<typeof cronServer>>;

/** What of a server looks after crons, on a database that others may share. Runs are made and stay pending. */
export async function cronServer(
  db: Db,
  { clock, missed = 'fire_once', impersonate = actAs, rider, rule_limit_ms = 10_000 }: CronServerOptions,
) {
  const log: LogLine[] = [];
  const riders = new Riders(rider ? [rider] : []);
  const rows = {
    crons: cronRepository(db),
    cronFires: cronFireRepository(db),
    runs: runRepository(db),
    threads: threadRepository(db),
    queue: runQueue(db, { riders }),
  };
  const shared = {
    ...rows,
    clock,
    ids: systemIds(clock),
    bus: memoryBus(),
    max_recursion_limit: 10_000,
    riders,
  };
  const assistants = assistantService({
    ...shared,
    assistants: assistantRepository(db),
    graphs: await fixtureGraphs(['echo']),
    runs: assistantRunDeletion({ ...shared, refreshState: async () => {} }),
  });
  await assistants.syncSystem();
  const deps = {
    ...shared,
    assistants,
    missed,
    deferrals: new CronDeferrals(clock),
    impersonate,
    rule_limit_ms,
    webhooks: policy(),
    log_retention_ms: 60_000,
    default_ttl: undefined,
    logger: recordingLogger('debug', (line) => log.push(line)),
  };
  const crons = cronService(deps);

  return {
    ...rows,
    /** The repository; `crons` is the service. */
    rows: rows.crons,
    assistants,
    crons,
    log,
    deferrals: deps.deferrals,
    ticks: cronTicks(deps),

    create(input: object, thread_id: string | null = null, actor: Actor = ME): Promise<Cron> {
      const body = CronCreate.parse({ assistant_id: 'echo', schedule: '0 * * * *', ...input });
      return crons.create(actor, thread_id, body);
    },

    get: (cron_id: string): Promise<Cron> => crons.get(ME, cron_id),

    /** What its times came to, the newest first. */
    fires: (cron_id: string): Promise<CronRun[]> => crons.runs(ME, cron_id, { limit: 1000, offset: 0 }),

    /** The same in short: when, and what. */
    async history(cron_id: string): Promise<string[]> {
      const fires = await crons.runs(ME, cron_id, { limit: 1000, offset: 0 });
      return fires.map(({ tick, outcome }) => `${tick?.slice(11, 16) ?? 'triggered'} ${outcome}`).reverse();
    },

    async thread(): Promise<string> {
      const thread = newThread(randomUUID());
      await rows.threads.insert({ ...thread, created_at: timestamp(clock.now()) });
      return thread.thread_id;
    },
  };
}

function actAs(user: User | null, request_id: string): Actor {
  return { ...systemActor(request_id), user };
}
