import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { LogLine } from '../../src/core/logger.ts';
import { makeDataFolder } from './data-folder.ts';
import { ENCRYPTION_OF_TESTS } from './encryption.ts';
import { HOSTS_OF_TESTS } from './hosts.ts';
import { recordingLogger } from './recording-logger.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures/graphs');

interface AppParts {
  /** Which of the configuration's graphs. */
  readonly graphs: readonly string[];
  /** Of the configuration; the one of the fixtures without it. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Over the configuration's. */
  readonly http?: Partial<Config['http']>;
  readonly crons?: Partial<Config['crons']>;
  readonly runs?: Partial<Config['runs']>;
  /** Instead of the machine's. */
  readonly clock?: Clock;
  readonly server?: Partial<Config['server']>;
  readonly gives_hints?: boolean;
}

/**
 * The whole server in the test's own process, on an empty SQLite file, with some graphs of the fixtures. It executes
 * runs; requests go in without a socket.
 */
export async function openApp(parts: AppParts) {
  const {
    graphs,
    folder: cwd = FIXTURES,
    environment = {},
    http,
    crons,
    runs,
    server,
    gives_hints,
    clock = systemClock,
  } = parts;
  const folder = await makeDataFolder();
  const { config } = await loadConfig({
    cwd,
    environment: {
      DATABASE_URI: `sqlite:${join(folder, 'server.db')}`,
      PORT: '0',
      ...ENCRYPTION_OF_TESTS,
      ...HOSTS_OF_TESTS,
      ...environment,
    },
  });
  const log: LogLine[] = [];
  const app = await createApp(
    {
      ...config,
      http: { ...config.http, ...http },
      crons: { ...config.crons, ...crons },
      runs: { ...config.runs, ...runs },
      server: { ...config.server, ...server },
      graphs: config.graphs.filter(({ graph_id }) => graphs.includes(graph_id)),
    },
    {
      logger: recordingLogger('info', (line) => log.push(line)),
      clock,
      ...(gives_hints === undefined ? {} : { gives_hints }),
    },
  );
  await app.ready();

  async function send(method: Method, url: string, payload?: unknown, headers: Record<string, string> = {}) {
    const answer = await app.server.inject({
      method,
      url,
      headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(payload === undefined
        ? {}
        : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
    });
    const isJson = answer.body !== '' && String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      body: isJson ? answer.json() : undefined,
    };
  }

  return {
    app,
    log,
    send,
    get: (url: string, headers?: Record<string, string>) => send('GET', url, undefined, headers),
    post: (url: string, payload?: unknown, headers?: Record<string, string>) =>
      send('POST', url, payload, headers),
    patch: (url: string, payload: unknown, headers?: Record<string, string>) =>
      send('PATCH', url, payload, headers),
    delete: (url: string) => send('DELETE', url),
    /** A new thread's id. */
    async thread(payload: object = {}): Promise<string> {
      return (await send('POST', '/threads', payload)).body.thread_id;
    },
    async [Symbol.asyncDispose]() {
      await app.stop(0);
      // A process that reads types may still be writing what it found.
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT' | 'HEAD' | 'OPTIONS';
