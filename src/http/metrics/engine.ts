import type {
  CronStats,
  EngineProgress,
  QueueCounts,
  WebhookStats,
  WorkerStats,
} from '../../schemas/system.ts';
import { type Meters, OURS } from './meters.ts';
import { Counter, Gauge } from './prometheus.ts';

interface EngineSources {
  queueCounts(): Promise<QueueCounts>;
  workers(): WorkerStats;
  webhooks(): Promise<WebhookStats>;
  crons(): Promise<CronStats>;
  progress(): EngineProgress;
}

/** Metrics of queue, workers, crons and webhooks, read at each scrape. */
export function measureEngine(engine: EngineSources, meters: Meters) {
  const parts = [
    measureQueue(engine, meters),
    measureWebhooks(engine, meters),
    measureProgress(engine, meters),
  ];
  return {
    async refresh(): Promise<void> {
      await Promise.all(parts.map((refresh) => refresh()));
    },
  };
}

function measureQueue({ queueCounts, workers, crons }: EngineSources, { registry, prefix }: Meters) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const pending = gauge(`${prefix}num_pending_runs`, 'Pending runs.');
  const running = gauge(`${prefix}num_running_runs`, 'Running runs.');
  const slots = {
    max: gauge(`${prefix}workers_max`, 'Runs that this process may execute concurrently.'),
    active: gauge(`${prefix}workers_active`, 'Runs that this process is executing.'),
    available: gauge(`${prefix}workers_available`, 'Additional runs that this process could execute.'),
  };
  const scheduled = gauge(`${OURS}crons`, 'Enabled crons.');
  const overdue = gauge(`${OURS}crons_overdue`, 'Crons that are due but whose run has not been created yet.');
  return async () => {
    const stats = workers();
    // A process that only serves requests has no slots: "0 available" would look saturated.
    for (const name of ['max', 'active', 'available'] as const)
      setOrRemove(slots[name], stats.max === 0 ? undefined : stats[name]);
    const { n_pending, n_running } = await queueCounts();
    pending.set(n_pending);
    running.set(n_running);
    const { n_crons, n_overdue_crons } = await crons();
    scheduled.set(n_crons);
    overdue.set(n_overdue_crons);
  };
}

function measureWebhooks({ webhooks }: EngineSources, { registry }: Meters) {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name: `${OURS}${name}`, help, registers });
  const waiting = gauge(
    'webhooks_pending',
    'Pending webhook deliveries, including retries; counted up to 10,001.',
  );
  const dead = gauge('webhooks_dead', 'Dead webhook deliveries; counted up to 10,001.');
  const age = gauge('outbox_age_seconds', 'Age of the oldest pending webhook delivery; 0 if there is none.');
  const tries = new Counter({
    name: `${OURS}webhook_tries_total`,
    help: 'Webhook delivery attempts of this process, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  return async () => {
    const stats = await webhooks();
    waiting.set(stats.pending);
    dead.set(stats.dead);
    age.set(stats.oldest_pending_secs ?? 0);
    tries.reset();
    for (const outcome of ['delivered', 'failed'] as const) tries.inc({ outcome }, stats[outcome]);
  };
}

function measureProgress({ progress }: EngineSources, { registry }: Meters) {
  const registers = [registry];
  const age = new Gauge({
    name: `${OURS}claim_loop_age_seconds`,
    help: 'Time since the last iteration of the loop that claims runs; it iterates at least every second.',
    registers,
  });
  const late = new Counter({
    name: `${OURS}lease_renewals_late_total`,
    help: 'Lease renewals of this process that were more than one heartbeat interval late.',
    registers,
  });
  return () => {
    const { claim_loop_age_ms, late_renewals } = progress();
    setOrRemove(age, claim_loop_age_ms === undefined ? undefined : claim_loop_age_ms / 1000);
    late.reset();
    late.inc(late_renewals);
  };
}

/** Removes the time series if there is no value. */
function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}
