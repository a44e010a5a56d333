import type { OutgoingHttpHeaders } from 'node:http';
import { resolve } from 'node:path';
import type { App } from '../../src/app.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { LogLine } from '../../src/core/logger.ts';

export const FIXTURES = resolve(import.meta.dirname, '../fixtures/graphs');

export interface AppParts {
  /** Which of the configuration's graphs. */
  readonly graphs: readonly string[];
  /** Of the configuration; the one of the fixtures without it. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Over the configuration's, with the sections of extensions. */
  readonly http?: Partial<Config['http']> & Readonly<Record<string, unknown>>;
  readonly crons?: Partial<Config['crons']>;
  readonly studio?: Readonly<Record<string, unknown>>;
  readonly runs?: object;
  readonly server?: Partial<Config['server']>;
  readonly usage?: Readonly<Record<string, unknown>>;
  /** Instead of the machine's. */
  readonly clock?: Clock;
  readonly gives_hints?: boolean;
  /** Why the test needs a single process, also with `TEST_PROCESSES=1`. */
  readonly one_process?: string;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT' | 'HEAD' | 'OPTIONS';

export interface Request {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string;
}

export interface Response {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly text: string;
}

/** A server under test, however many processes it is. */
export interface OpenedApp extends AsyncDisposable {
  readonly app: App;
  readonly log: LogLine[];
  request(request: Request): Promise<Response>;
}
