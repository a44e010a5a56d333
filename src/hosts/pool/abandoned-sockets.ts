import { once } from 'node:events';
import { lstat, readdir, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';

/** Longer than a server takes from making its folder until it listens in it. */
const STARTING_MS = 60 * 60_000;

/**
 * Removes folders of sockets that no process listens on any more. Hosts remove that of their server when it is killed,
 * unless they are killed with it. Only what is of this user: others may write to `root` too. Never fails.
 */
export async function removeAbandonedSockets(root: string, prefix: string, now_ms: number): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const folder = join(root, name);
    if (await isAbandoned(folder, now_ms).catch(() => false))
      await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

async function isAbandoned(folder: string, now_ms: number): Promise<boolean> {
  // `lstat`, so that a planted symlink is not followed.
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return false;
  // Opening and closing a socket changes the folder.
  if (found.mtimeMs > now_ms - STARTING_MS) return false;
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (!entry.isSocket() || (await mayListen(join(folder, entry.name)))) return false;
  return true;
}

/** Whether a process may listen there, also one that is frozen. Process ids would not tell: containers have their own. */
async function mayListen(path: string): Promise<boolean> {
  const socket = createConnection(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
