import { join } from 'node:path';
import { systemClock } from '../../../core/clock.ts';
import { Unavailable } from '../../../core/errors.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import { sleep } from '../../../core/timers.ts';
import { lockFile } from '../../../db/engines/sqlite-connection.ts';

const POLL_MS = 500;

/**
 * Locks the deployments folder for this server until disposed: two servers would kill each other's builds and delete
 * each other's files, whatever databases they use. Waits up to `wait_ms` for a server that is just exiting. Throws
 * `Unavailable` if another server holds the folder, or if it cannot be used.
 */
export async function lockFolder(folder: string, wait_ms: number): Promise<Disposable> {
  const path = join(folder, 'server.lock');
  const deadline = systemClock.monotonic() + wait_ms;
  for (;;) {
    const lock = tryLock(folder, path);
    if (lock) return { [Symbol.dispose]: () => void lock.close() };
    if (systemClock.monotonic() >= deadline) throw taken(folder, path);
    await sleep(POLL_MS);
  }
}

function tryLock(folder: string, path: string) {
  try {
    makeFolder(folder, 0o700);
    return lockFile(path);
  } catch (error) {
    throw unusableFolder(folder, error);
  }
}

function taken(folder: string, path: string): Unavailable {
  const detail = `Another server keeps its deployments in the folder ${folder} (it holds ${path}).`;
  return new Unavailable(`${detail} Stop that server, or set another "deployments.folder" for this one.`);
}

/** The message may name the folder: it is for the operator, who chose it. */
export function unusableFolder(folder: string, error: unknown): Unavailable {
  const reason = error instanceof Error ? error.message : String(error);
  const detail = `The folder ${folder} cannot be used: ${reason}. Set another "deployments.folder".`;
  return new Unavailable(detail, { cause: error });
}
