import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const flush = promisify(fdatasync);

/** Flushes commits to disk. Resolves when everything committed before the call is durable. */
export type Sync = () => Promise<void>;

/**
 * Flushes the write-ahead log on another thread. With `synchronous = FULL` SQLite would block the event loop at each
 * commit; here it only writes the WAL, as with NORMAL, and a flush of the WAL gives the same durability. One flush
 * serves all commits before it.
 */
export class WalSync implements Disposable {
  readonly #path: string;
  #file: number | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `path`: the real path of the database. The WAL exists from the first commit until the database closes. */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  readonly sync: Sync = () => {
    // A running flush may have begun before the caller's commit; the next one serves all callers until it begins.
    this.#next ??= this.#after(this.#running);
    return this.#next;
  };

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  async #after(running: Promise<void> | undefined): Promise<void> {
    // Its failure belongs to the callers that waited for it.
    await running?.catch(() => {});
    this.#next = undefined;
    this.#file ??= openSync(this.#path, 'r+');
    this.#running = flush(this.#file);
    await this.#running;
  }
}
