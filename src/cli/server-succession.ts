import { readFile, rm } from 'node:fs/promises';
import { systemClock, timestamp } from '../core/clock.ts';
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
    const server = this.#spare?.alive ? this.#spare : new ServerProcess(this.#given);
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
      this.#spare = new ServerProcess(this.#given);
    }
    const code = await server.ended;
    if (reachable && systemClock.monotonic() - since > WELL_MS) this.#failures = 0;
    if (this.#current === server) await this.#restartAfter(server, code);
  }

  async #restartAfter(server: ServerProcess, code: number | null): Promise<void> {
    const delay_ms = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS);
    this.#failures += 1;
    const why = code === null ? 'was killed' : `ended with exit code ${code}`;
    const seconds = delay_ms / 1000;
    const time = timestamp(systemClock.now()).slice(11, 19);
    this.#door.leadTo({
      refusal: `The server ${why} at ${time} UTC and restarts in ${seconds} s. Its log says why.`,
    });
    this.#logger.error(`the server ${why}; it restarts at the next change, or in ${seconds} s`);
    this.#blamed = await blamedIn(this.#given.note);
    this.#retry = after(delay_ms, () => {
      if (this.#current !== server) return;
      this.#replace().catch((error: unknown) =>
        this.#logger.error('the server cannot be restarted', { error }),
      );
    });
  }
}

/** Undefined when no node is to blame. What is read there, it is there once. */
async function blamedIn(note: string): Promise<Blamed | undefined> {
  const text = await readFile(note, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  await rm(note, { force: true });
  const culprit: unknown = JSON.parse(text);
  if (!isObject(culprit) || typeof culprit['run_id'] !== 'string') return undefined;
  const { run_id, node, what, at } = culprit;
  const message = `The node "${node}" ${what}${at === undefined ? '' : ` (${at})`}, which ended the server; the run is not tried again.`;
  return { run_id, error: { error: 'WorkerLostError', message } };
}
