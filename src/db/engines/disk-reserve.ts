import { closeSync, fstatSync, openSync, rmSync, writeSync } from 'node:fs';
import type { Connection } from './sqlite-connection.ts';

/** Enough for the log of a transaction that deletes, and for twice what SQLite lets its log grow before it writes it back. */
const RESERVE_BYTES = 8 * 1024 ** 2;
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
    let file: number | undefined;
    try {
      file = openSync(this.#path, 'a', 0o600);
      for (let size = fstatSync(file).size; size < RESERVE_BYTES; ) {
        size += writeSync(file, CHUNK, 0, Math.min(CHUNK.length, RESERVE_BYTES - size));
      }
    } catch (error) {
      if (!isFull(error)) throw error;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Whether the database can grow by all that its log has to write back, in the room that the reserve takes. */
  fitsWalOf(connection: Connection): boolean {
    const [frames] = connection.pragma('wal_checkpoint(noop)') as { log: number; checkpointed: number }[];
    const page = connection.pragma('page_size', { simple: true }) as number;
    return frames !== undefined && (frames.log - frames.checkpointed) * page < RESERVE_BYTES;
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}

function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
