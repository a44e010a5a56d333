import type {
  CronStats,
  DatabaseStats,
  EndedRun,
  EngineProgress,
  HostView,
  QueueCounts,
  QueueStats,
  StoredSteps,
  TraceStats,
  WebhookStats,
  WorkerStats,
} from '../../schemas/system.ts';
import { countCalls } from './calls.ts';
import { measureDatabase } from './database.ts';
import { measureEngine } from './engine.ts';
import { type HistoryDeps, openHistory } from './history.ts';
import { type Meters, OURS } from './meters.ts';
import { measureHosts, measureProcess } from './process.ts';
import { Counter } from './prometheus.ts';
import { type FinishedRequest, requestMetrics } from './requests.ts';
import { countRuns } from './runs.ts';

/** Engine statistics, read at scrape time. */
export interface EngineStats {
  /** For the JSON format. */
  queue(): Promise<QueueStats>;
  queueCounts(): Promise<QueueCounts>;
  workers(): WorkerStats;
  webhooks(): Promise<WebhookStats>;
  crons(): Promise<CronStats>;
  progress(): EngineProgress;
  /** Graph hosts; empty if this process executes the graphs itself. */
  hosts(): readonly HostView[];
  /** Connections of this process to the database. */
  database(): DatabaseStats;
  /** Size of the stored data, bytes. */
  storageBytes(): Promise<number>;
  /** `undefined` if no traces are sent. */
  traces?: (() => TraceStats) | undefined;
  onRunEnded(listener: (run: EndedRun) => void): void;
  onStepsStored(listener: (stored: StoredSteps) => void): void;
}

/** Registers metrics, which listen to the engine. */
export type Measure = (engine: EngineStats, meters: Meters) => void;

interface MetricParts extends Pick<HistoryDeps, 'process' | 'clock'> {
  readonly extensions?: { readonly metrics?: readonly Measure[] } | undefined;
}

export type HttpMetrics = ReturnType<typeof httpMetrics>;

/** Every metric of a server: of its requests, of the engine at scrape time, and what `meters` counted. */
export function httpMetrics(engine: EngineStats, meters: Meters, parts: MetricParts) {
  const requests = requestMetrics(meters);
  const history = openHistory({ engine, ...parts });
  countRuns(engine.onRunEnded, meters);
  countCalls(engine.onStepsStored, meters);
  for (const measure of parts.extensions?.metrics ?? []) measure(engine, meters);
  measureHosts(engine.hosts, meters);
  if (engine.traces) measureTraces(engine.traces, meters);
  const process = measureProcess(meters);
  const refreshed = [measureEngine(engine, meters), measureDatabase(engine, meters), process];
  return {
    ...requests,
    meter: meters.meter,
    history,

    observe(request: FinishedRequest): void {
      requests.observe(request);
      history.requestEnded();
    },

    /** Call on server close. */
    stop(): void {
      process.stop();
      history.stop();
    },

    /** Prometheus text format. Rejects if the queue cannot be read. */
    async text(): Promise<string> {
      await Promise.all(refreshed.map((part) => part.refresh()));
      return await meters.registry.metrics();
    },
  };
}

/** Counts the spans of runs that this process has sent, and those that it dropped because no collector took them. */
function measureTraces(stats: () => TraceStats, { registry }: Meters): void {
  const count = (what: 'sent' | 'dropped', help: string) =>
    new Counter({
      name: `${OURS}spans_${what}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(stats()[what]);
      },
    });
  count('sent', 'Spans that the collector has accepted.');
  count('dropped', 'Spans that were dropped because the collector failed or the buffer was full.');
}
