import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Client } from '@langchain/langgraph-sdk';
import { KEEPS_COMPILED } from './compiled.ts';
import { ENCRYPTION_OF_TESTS } from './encryption.ts';
import { withFaults } from './faults.ts';
import { HOSTS_OF_SERVERS } from './hosts.ts';
import type { TestDatabase } from './test-database.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FIXTURES = join(ROOT, 'test/fixtures/graphs/agent.config.yaml');

/** On PostgreSQL, the runs of a killed server wait until its lease has ended. */
const { TEST_LEASE_SECONDS } = process.env;
const LEASE_OF_TESTS = TEST_LEASE_SECONDS ? { AGENT_SERVER_LEASE_SECONDS: TEST_LEASE_SECONDS } : {};

export interface ServerOptions {
  /** A configuration file; the graphs of the fixtures without one. */
  readonly config?: string;
  /** Graphs instead of a configuration: name → `path:export`, the path from the top level of the repository. */
  readonly graphs?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly api_keys?: readonly string[];
  /** SQLite, whatever the other tests run on: for a test that reads the file. */
  readonly storage?: 'sqlite';
  /** What starts, instead of this repository's. */
  readonly program?: string;
  /** Why the test needs a single process, also with `TEST_PROCESSES=1`. */
  readonly one_process?: string;
}

/** A line of the server's log. */
export type LogEntry = { level: string; message: string } & Record<string, unknown>;

/** A server in a process of its own, as `agent-server start` makes it, on a free port. */
export class TestServer implements AsyncDisposable {
  readonly log: LogEntry[] = [];
  /** Called with each line of the log. */
  onLog: (entry: LogEntry) => void = () => {};
  /** What the next start executes: another release of the server may continue. */
  program: string;
  readonly #options: ServerOptions;
  readonly #data: string;
  readonly #database: TestDatabase;
  readonly #watchers = new Set<(entry: LogEntry) => void>();
  #process: ChildProcessByStdio<null, Readable, Readable> | undefined;
  #errors = '';
  #url = '';

  constructor(options: ServerOptions, data: string, database: TestDatabase) {
    this.#options = options;
    this.program = options.program ?? join(ROOT, 'bin/agent-server.mjs');
    this.#data = data;
    this.#database = database;
  }

  /** Stays the same over restarts. */
  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The SQLite file. */
  get database(): string {
    return join(this.#data, 'server.db');
  }

  /** What the server wrote beside its log, such as why it did not start. */
  get errors(): string {
    return this.#errors;
  }

  /** A client that has a key. */
  get client(): Client {
    const [apiKey] = this.#options.api_keys ?? [];
    return new Client({ apiUrl: this.url, ...(apiKey ? { apiKey } : {}) });
  }

  /** Resolves to the exit code, or null after a signal, when the process is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.#process?.kill(signal);
    return this.exited();
  }

  /** Waits for the process to end by itself; resolves as `kill` does. */
  async exited(): Promise<number | null> {
    const child = this.#process;
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child?.exitCode ?? null;
  }

  /** Starts the server, again on the same port and data after the first time, and waits until it is ready. */
  async restart(): Promise<void> {
    await this.kill();
    const port = this.#url === '' ? '0' : new URL(this.#url).port;
    const child = this.#spawn(await this.#config(), port);
    this.#process = child;
    const failed = once(child, 'exit').then(() => {
      throw new Error(`the server ended before it was ready: ${this.#errors}`);
    });
    const ready = await Promise.race([this.untilLog('ready'), failed]);
    this.#url = String(ready['url']);
  }

  /** The next line of the log with this message, and with these fields. */
  untilLog(message: string, fields: Record<string, unknown> = {}): Promise<LogEntry> {
    return new Promise((found) => {
      const watch = (entry: LogEntry) => {
        const matches = Object.entries(fields).every(([name, value]) => entry[name] === value);
        if (entry.message !== message || !matches) return;
        this.#watchers.delete(watch);
        found(entry);
      };
      this.#watchers.add(watch);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#database[Symbol.asyncDispose]();
    await rm(this.#data, { recursive: true, force: true });
  }

  async #config(): Promise<string> {
    const { config = FIXTURES, graphs } = this.#options;
    if (!graphs) return config;
    const absolute = Object.entries(graphs).map(([name, path]) => [name, join(ROOT, path)]);
    const file = join(this.#data, 'agent.config.yaml');
    await writeFile(file, JSON.stringify({ graphs: Object.fromEntries(absolute) }));
    return file;
  }

  #spawn(config: string, port: string) {
    const { env, api_keys } = this.#options;
    const args = [...KEEPS_COMPILED, this.program, 'start', '--config', config, '--port', port];
    const child = spawn(process.execPath, args, {
      cwd: this.#data,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        DATABASE_URI: this.#database.url,
        ...ENCRYPTION_OF_TESTS,
        ...HOSTS_OF_SERVERS,
        ...withFaults(),
        ...LEASE_OF_TESTS,
        ...(api_keys ? { AGENT_SERVER_API_KEYS: api_keys.join(',') } : {}),
        ...env,
        NODE_OPTIONS: [withFaults()['NODE_OPTIONS'], env?.['NODE_OPTIONS']].filter(Boolean).join(' '),
      },
    });
    createInterface(child.stdout).on('line', (line) => this.#heard(line));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    return child;
  }

  /** User code may print too, but not like this. */
  #heard(line: string): void {
    if (!line.startsWith('{"level":')) return;
    const entry = JSON.parse(line) as LogEntry;
    this.log.push(entry);
    this.onLog(entry);
    for (const watcher of [...this.#watchers]) watcher(entry);
  }
}
