import { closeSync, fstatSync, openSync, rmSync, writeSync } from 'node:fs';

/** Enough for the log of a transaction that deletes: pages that only become free are not written. */
const BYTES = 4 * 1024 ** 2;
const CHUNK = Buffer.alloc(1024 ** 2);

/** Room on the disk that only what deletes may use: a database that filled its disk by itself could not be emptied. */
export class DiskReserve {
  readonly #path: string;

  /** `path` is where the database really is. */
  constructor(path: string) {
    this.#path = `${path}.reserve`;
    this.fill();
  }

  /** Takes what is missing, or as much of it as the disk has. */
  fill(): void {
    const file = openSync(this.#path, 'a', 0o600);
    try {
      for (let size = fstatSync(file).size; size < BYTES; ) {
        size += writeSync(file, CHUNK, 0, Math.min(CHUNK.length, BYTES - size));
      }
    } catch (error) {
      if (!isFull(error)) throw error;
    } finally {
      closeSync(file);
    }
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}

function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
