import { readFile, rm } from 'node:fs/promises';
import { systemClock, timestamp } from '../core/clock.ts';
import { safely } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import type { Logger } from '../core/logger.ts';
import { after, type Timer } from '../core/timers.ts';
import type { FrontDoor } from './front-door.ts';
import { type Blamed, type DevServerArguments, ServerProcess } from './server-process.ts';

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 30_000;
/** A server that lived for so long was well: the next failure is the first one again, ms. */
const WELL_MS = 30_000;

/**
 * One server process after the other behind a door that stays open. The next one is started long before it is needed,
 * so that a change costs only the time to load the project. A server that ends by itself is restarted after a delay
 * that doubles, and the run that ended it fails.
 */
export class ServerSuccession implements AsyncDisposable {
  readonly #given: DevServerArguments;
  readonly #door: FrontDoor;
  readonly #logger: Logger;
  #current: ServerProcess | undefined;
  #spare: ServerProcess | undefined;
  /** Never rejects. */
  #supervision: Promise<void> = Promise.resolve();
  /** In a row. */
  #failures = 0;
  /** Processes so far. */
  #count = 0;
  #retry: Timer | undefined;
  #blamed: Blamed | undefined;

  constructor(given: DevServerArguments, door: FrontDoor, logger: Logger) {
    this.#given = given;
    this.#door = door;
    this.#logger = logger;
  }

  /** After a change. Resolves when the process before has stopped; connections wait until the new one takes them. */
  async next(): Promise<void> {
    this.#failures = 0;
    await this.#replace();
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
    const server = this.#spare?.alive ? this.#spare : this.#made();
    this.#spare = undefined;
    this.#current = server;
    this.#door.leadTo('starting');
    await before?.stop();
    this.#supervision = this.#supervise(server, before === undefined);
  }

  async #supervise(server: ServerProcess, isFirst: boolean): Promise<void> {
    const blamed = this.#blamed;
    this.#blamed = undefined;
    const reachable = await server.serve(this.#door.url, isFirst, blamed);
    const since = systemClock.monotonic();
    if (this.#current === server) {
      if (reachable) this.#door.leadTo(server.child);
      this.#spare = this.#made();
    }
    const code = await server.ended;
    const blame = await blameIn(server.given, code);
    if (reachable && systemClock.monotonic() - since > WELL_MS) this.#failures = 0;
    if (this.#current === server) this.#restartAfter(server, code, blame);
  }

  /** Each has a note of its own: what one wrote is nothing that another did. */
  #made(): ServerProcess {
    this.#count += 1;
    return new ServerProcess({ ...this.#given, note: `${this.#given.note}.${this.#count}` });
  }

  #restartAfter(server: ServerProcess, code: number | null, blamed: Blamed | undefined): void {
    const delay_ms = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS);
    this.#failures += 1;
    const why = code === null ? 'was killed' : `ended with exit code ${code}`;
    const seconds = delay_ms / 1000;
    const time = timestamp(systemClock.now()).slice(11, 19);
    this.#door.leadTo({
      refusal: `The server ${why} at ${time} UTC and restarts in ${seconds} s. See its log.`,
      retry_after: seconds,
    });
    this.#logger.error(`the server ${why}; it restarts at the next change, or in ${seconds} s`);
    this.#blamed = blamed;
    this.#retry = after(delay_ms, () => {
      if (this.#current !== server) return;
      this.#replace().catch((error: unknown) =>
        this.#logger.error('the server cannot be restarted', { error }),
      );
    });
  }
}

/** Undefined when no node is to blame. Clients read it: places are told as they are seen from the project. */
async function blameIn({ note, root }: DevServerArguments, code: number | null): Promise<Blamed | undefined> {
  const text = await readFile(note, 'utf8').catch(() => undefined);
  await rm(note, { force: true });
  const culprit: unknown = text === undefined || code === 0 ? undefined : safely(() => JSON.parse(text));
  if (!isObject(culprit) || typeof culprit['run_id'] !== 'string') return undefined;
  const { run_id, node, what, at } = culprit;
  const place = typeof at === 'string' && at.startsWith(`${root}/`) ? ` (${at.slice(root.length + 1)})` : '';
  const message = `The node "${node}" ${what}${place}, which ended the server; the run is not retried.`;
  return { run_id, error: { error: 'WorkerLostError', message } };
}
