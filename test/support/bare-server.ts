import { Http } from '../../src/config/sections/http.ts';
import { Server } from '../../src/config/sections/server.ts';
import { systemClock } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import type { LogLine } from '../../src/core/logger.ts';
import { type MetricOptions, openMeters } from '../../src/http/metrics/meters.ts';
import { createServer } from '../../src/http/server.ts';
import type { HttpOptions, ServerDeps } from '../../src/http/server-deps.ts';
import { recordingLogger } from './recording-logger.ts';

const OPTIONS: HttpOptions = { ...Http.parse({}), ...Server.parse({}) };

export const ENGINE: ServerDeps['engine'] = {
  queue: async () => ({
    n_pending: 2,
    n_running: 1,
    pending_runs_wait_time_max_secs: 3,
    pending_runs_wait_time_med_secs: 2,
    pending_unblocked_runs_wait_time_max_secs: null,
  }),
  queueCounts: async () => ({ n_pending: 2, n_running: 1 }),
  crons: async () => ({ n_crons: 4, n_overdue_crons: 1 }),
  webhooks: async () => ({ pending: 3, dead: 1, oldest_pending_secs: 7.5, delivered: 5, failed: 2 }),
  progress: () => ({ claim_loop_age_ms: 250, late_renewals: 1 }),
  storageBytes: async () => 4096,
  workers: () => ({ max: 10, active: 1, available: 9 }),
  onRunEnded: () => {},
  onStepsStored: () => {},
  hosts: () => [],
  database: () => ({ pools: {}, retries: {} }),
  ping: async () => {},
  isDraining: () => false,
  isLoaded: () => true,
  stuck: () => undefined,
};

export const PROCESS: Pick<ServerDeps, 'process' | 'clock'> = {
  process: { worker_id: '00000000-0000-4000-8000-000000000000', host: 'here', pid: 1 },
  clock: systemClock,
};

interface BareParts {
  /** Only what the test calls. */
  readonly services?: { readonly [Service in keyof ServerDeps['services']]?: object };
  readonly engine?: Partial<ServerDeps['engine']>;
  readonly options?: Partial<HttpOptions>;
  readonly metrics?: Partial<MetricOptions>;
  /** Everybody is let in without it. */
  readonly authenticate?: ServerDeps['auth']['authenticate'];
  /** How often callers of open streams are authenticated, ms. */
  readonly authenticate_every_ms?: number;
  readonly customApp?: ServerDeps['customApp'];
  readonly extensions?: ServerDeps['extensions'];
}

/** An HTTP server with only what a test puts behind it, for what HTTP itself does; and what it logs. */
export async function bareServer({
  services = {},
  engine,
  options,
  metrics,
  authenticate,
  authenticate_every_ms,
  customApp,
  extensions,
}: BareParts = {}) {
  const log: LogLine[] = [];
  const server = await createServer({
    services: services as ServerDeps['services'],
    engine: { ...ENGINE, ...engine },
    meters: openMeters({ prefix: 'lg_api_', ...metrics }),
    options: { ...OPTIONS, ...options },
    auth: { authenticate, has_users: false, issuers: [], authenticate_every_ms },
    info: { version: '1.2.3', langgraph_version: '1.4.18', graph_ids: ['echo'], crons: true },
    logger: recordingLogger('debug', (line) => log.push(line)),
    ...PROCESS,
    ids: systemIds(systemClock),
    customApp,
    extensions,
  });
  return {
    server,
    log,
    inject: server.inject.bind(server),
    /** Its address once it listens. */
    async listen(): Promise<string> {
      return await server.listen({ host: '127.0.0.1', port: 0 });
    },
    [Symbol.asyncDispose]: () => server.close() as unknown as Promise<void>,
  };
}

export type BareServer = Awaited<ReturnType<typeof bareServer>>;
