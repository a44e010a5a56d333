import { closeSync, fstatSync, openSync, rmSync, writeSync } from 'node:fs';
import { isDiskFull } from '../../core/errors.ts';
import type { Connection } from './sqlite-connection.ts';

/** Holds the WAL of a transaction that deletes, and twice the size at which SQLite checkpoints its WAL. */
const RESERVE_BYTES = 8 * 1024 ** 2;
const CHUNK = Buffer.alloc(1024 ** 2);

/** Disk space that only deletes may use: a database that filled its own disk could otherwise not be emptied. */
export class DiskReserve {
  readonly #path: string;

  /** `path`: the real path of the database, links resolved. */
  constructor(path: string) {
    this.#path = `${path}.reserve`;
    this.fill();
  }

  /** Grows the reserve to its full size, or as far as the disk allows. */
  fill(): void {
    let file: number | undefined;
    try {
      file = openSync(this.#path, 'a', 0o600);
      for (let size = fstatSync(file).size; size < RESERVE_BYTES; ) {
        size += writeSync(file, CHUNK, 0, Math.min(CHUNK.length, RESERVE_BYTES - size));
      }
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Whether the space of the reserve can hold every WAL frame that is not checkpointed yet. */
  fitsWalOf(connection: Connection): boolean {
    const [frames] = connection.pragma('wal_checkpoint(noop)') as { log: number; checkpointed: number }[];
    const page = connection.pragma('page_size', { simple: true }) as number;
    return frames !== undefined && (frames.log - frames.checkpointed) * page < RESERVE_BYTES;
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}
