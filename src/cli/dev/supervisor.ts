import { readFile, rm } from 'node:fs/promises';
import { systemClock, timestamp } from '../../core/clock.ts';
import { tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import { after, type Timer } from '../../core/timers.ts';
import type { DevProxy } from './proxy.ts';
import { type CrashedRun, type DevServerArguments, ServerProcess } from './server-process.ts';

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;
/** Uptime that resets the failure count, ms. */
const HEALTHY_AFTER_MS = 30_000;

/**
 * Runs one server process at a time behind a proxy that keeps the port. Without graph hosts a spare process is forked
 * ahead, so that a change costs only the time to load the project. A process that crashes is restarted with exponential
 * backoff, and the run that crashed it fails.
 */
export class DevSupervisor implements AsyncDisposable {
  readonly #given: DevServerArguments;
  readonly #proxy: DevProxy;
  readonly #logger: Logger;
  #current: ServerProcess | undefined;
  #spare: ServerProcess | undefined;
  /** Never rejects. */
  #supervision: Promise<void> = Promise.resolve();
  /** Consecutive failures. */
  #failures = 0;
  /** Processes spawned so far. */
  #count = 0;
  #retry: Timer | undefined;
  #crashedRun: CrashedRun | undefined;

  constructor(given: DevServerArguments, proxy: DevProxy, logger: Logger) {
    this.#given = given;
    this.#proxy = proxy;
    this.#logger = logger;
  }

  /** Restarts after a change. Resolves when the old process has stopped; connections queue for the new one. */
  async restart(): Promise<void> {
    this.#failures = 0;
    await this.#replace();
  }

  /**
   * Applies a change of the project's code: restarts unless the process can reload it in graph hosts. It is not waited for
   * there: code that loops as it is imported must hold up neither the next change nor the end.
   */
  async reload(): Promise<void> {
    if (!this.#current?.reload()) await this.restart();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    const last = this.#current;
    this.#current = undefined;
    await Promise.all([last?.stop(), this.#spare?.stop()]);
    await this.#supervision;
  }

  async #replace(): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    const before = this.#current;
    const server = this.#spare?.alive ? this.#spare : this.#spawn();
    this.#spare = undefined;
    this.#current = server;
    this.#proxy.routeTo('starting');
    await before?.stop();
    this.#supervision = this.#supervise(server, before === undefined);
  }

  async #supervise(server: ServerProcess, isFirst: boolean): Promise<void> {
    const previous = this.#crashedRun;
    this.#crashedRun = undefined;
    const reachable = await server.serve(this.#proxy.url, isFirst, previous);
    const since = systemClock.monotonic();
    if (this.#current === server) {
      if (reachable) this.#proxy.routeTo(server.child);
      // With graph hosts, only a change of the configuration needs a new process.
      if (!this.#given.has_hosts) this.#spare = this.#spawn();
    }
    void server.needsRestart.then(() => this.#restartInstead(server));
    const code = await server.ended;
    const crashedRun = await readCrashedRun(server.given, code);
    if (reachable && systemClock.monotonic() - since > HEALTHY_AFTER_MS) this.#failures = 0;
    if (this.#current === server) this.#restartAfter(server, code, crashedRun);
  }

  /** One file per process, so that no process is blamed for another's crash. */
  #spawn(): ServerProcess {
    this.#count += 1;
    return new ServerProcess({
      ...this.#given,
      faulty_node_file: `${this.#given.faulty_node_file}.${this.#count}`,
    });
  }

  #restartAfter(server: ServerProcess, code: number | null, crashedRun: CrashedRun | undefined): void {
    const delay_ms = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS);
    this.#failures += 1;
    const why = code === null ? 'was killed' : `ended with exit code ${code}`;
    const seconds = delay_ms / 1000;
    const time = timestamp(systemClock.now()).slice(11, 19);
    this.#proxy.routeTo({
      refusal: `The server ${why} at ${time} UTC and restarts in ${seconds} s. See its log.`,
      retry_after: seconds,
    });
    this.#logger.error(`the server ${why}; it restarts at the next change, or in ${seconds} s`);
    this.#crashedRun = crashedRun;
    this.#retry = after(delay_ms, () => this.#restartInstead(server));
  }

  /** Restarts unless another process has taken the place of this one. */
  #restartInstead(server: ServerProcess): void {
    if (this.#current !== server) return;
    this.#replace().catch((error: unknown) =>
      this.#logger.error('the server cannot be restarted', { error }),
    );
  }
}

/** Returns `undefined` if no node is to blame. Paths are relative to the project, because clients see them. */
async function readCrashedRun(
  { faulty_node_file, root }: DevServerArguments,
  code: number | null,
): Promise<CrashedRun | undefined> {
  const text = await readFile(faulty_node_file, 'utf8').catch(() => undefined);
  await rm(faulty_node_file, { force: true });
  const faultyNode: unknown =
    text === undefined || code === 0 ? undefined : tryOrUndefined(() => JSON.parse(text));
  if (!isObject(faultyNode) || typeof faultyNode['run_id'] !== 'string') return undefined;
  const { run_id, node, what, at } = faultyNode;
  const place = typeof at === 'string' && at.startsWith(`${root}/`) ? ` (${at.slice(root.length + 1)})` : '';
  const message = `The node "${node}" ${what}${place}, which crashed the server; the run is not retried.`;
  return { run_id, error: { error: 'WorkerLostError', message } };
}
