import { systemClock, timestamp } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import { after, type Timer } from '../../core/timers.ts';
import type { DevProxy } from './proxy.ts';
import { type DevServerArguments, ServerProcess } from './server-process.ts';

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;
/** Uptime that resets the failure count, ms. */
const HEALTHY_AFTER_MS = 30_000;

/**
 * Runs one server process at a time behind a proxy that keeps the port. A process that crashes is restarted with
 * exponential backoff.
 */
export class DevSupervisor implements AsyncDisposable {
  readonly #given: DevServerArguments;
  readonly #proxy: DevProxy;
  readonly #logger: Logger;
  #current: ServerProcess | undefined;
  /** Never rejects. */
  #supervision: Promise<void> = Promise.resolve();
  /** Consecutive failures. */
  #failures = 0;
  #retry: Timer | undefined;

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
    await last?.stop();
    await this.#supervision;
  }

  async #replace(): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    const before = this.#current;
    // It loads the server while the one before stops.
    const server = new ServerProcess(this.#given);
    this.#current = server;
    this.#proxy.routeTo('starting');
    await before?.stop();
    this.#supervision = this.#supervise(server, before === undefined);
  }

  async #supervise(server: ServerProcess, isFirst: boolean): Promise<void> {
    const reachable = await server.serve(this.#proxy.url, isFirst);
    const since = systemClock.monotonic();
    if (this.#current === server && reachable) this.#proxy.routeTo(server.child);
    void server.needsRestart.then(() => this.#restartInstead(server));
    const code = await server.ended;
    if (reachable && systemClock.monotonic() - since > HEALTHY_AFTER_MS) this.#failures = 0;
    if (this.#current === server) this.#restartAfter(server, code);
  }

  #restartAfter(server: ServerProcess, code: number | null): void {
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
