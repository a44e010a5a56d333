import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const flush = promisify(fdatasync);

/** Brings commits to the disk. Resolves when everything that was committed before the call is there. */
export type Sync = () => Promise<void>;

/**
 * Waits for the disk on another thread. With `synchronous = FULL` SQLite would wait at each commit and nothing else
 * could run meanwhile; here SQLite only writes its log, as with NORMAL, and a flush of the log makes the same promise.
 * One flush serves all commits that came before it.
 */
export class WalSync implements Disposable {
  readonly #path: string;
  #file: number | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `path` is where the database really is, behind all links; the log lies beside it from the first commit on, and stays while it is open. */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  readonly sync: Sync = () => {
    // One that runs may have begun before the caller's commit; the next serves all who come until it begins.
    this.#next ??= this.#after(this.#running);
    return this.#next;
  };

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  async #after(running: Promise<void> | undefined): Promise<void> {
    // Its failure is for those who waited for it.
    await running?.catch(() => {});
    this.#next = undefined;
    this.#file ??= openSync(this.#path, 'r+');
    this.#running = flush(this.#file);
    await this.#running;
  }
}
