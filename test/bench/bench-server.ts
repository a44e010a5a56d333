import { resolve } from 'node:path';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { cpuSeconds, residentBytes } from '../support/process-usage.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** The server under test, in a process of its own, with a client. */
export interface BenchServer extends AsyncDisposable {
  readonly process: TestServer;
  readonly http: HttpClient;
  /** Seconds of CPU since the start of the process. */
  cpu(): number;
  residentMegabytes(): number;
}

export interface BenchOptions {
  /** How many runs execute at the same time. */
  readonly concurrency?: number | string;
  /** A database that is there; an empty SQLite file without one. */
  readonly database?: string;
  /** What the configuration leaves open. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Everything that is not an option is as by default. */
export async function benchServer({
  concurrency = 10,
  database,
  env,
}: BenchOptions = {}): Promise<BenchServer> {
  const process = await startServer({
    config: resolve(import.meta.dirname, 'agent.config.yaml'),
    env: {
      N_JOBS_PER_WORKER: String(concurrency),
      ...env,
      ...(database === undefined ? {} : { DATABASE_URI: database }),
    },
  });
  const http = httpClient(process.url);
  return {
    process,
    http,
    cpu: () => cpuSeconds(process.pid),
    residentMegabytes: () => residentBytes(process.pid) / 1024 ** 2,
    async [Symbol.asyncDispose]() {
      http[Symbol.dispose]();
      await process[Symbol.asyncDispose]();
    },
  };
}

export const ECHO = { assistant_id: 'echo', input: { messages: [{ role: 'user', content: 'Hello' }] } };
export const TEN_STEPS = { assistant_id: 'ten-steps', input: { n: 0 } };
