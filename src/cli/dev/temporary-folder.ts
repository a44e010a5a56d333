import { once } from 'node:events';
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'agent-server-dev-';
/**
 * Socket in the folder, on which the owner listens while it lives: proves ownership even where process ids do
 * not, as in containers.
 */
const OWNER = 'owner';

/** A private temporary folder, not writable by other users. Removes folders left behind by killed processes. */
export async function temporaryFolder(
  parent = tmpdir(),
): Promise<AsyncDisposable & { readonly path: string }> {
  await removeAbandoned(parent);
  const path = await mkdtemp(join(parent, PREFIX));
  const owner = await listenIn(path);
  return {
    path,
    async [Symbol.asyncDispose]() {
      owner?.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** Returns `undefined` where file systems have no sockets. */
async function listenIn(path: string) {
  const server = createServer((socket) => socket.destroy()).unref();
  // Use another name until it listens: before that, the folder would look abandoned.
  const starting = join(path, 'starting');
  server.listen(starting);
  try {
    await once(server, 'listening');
    await rename(starting, join(path, OWNER));
    return server;
  } catch {
    server.close();
    return undefined;
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  const names = await readdir(parent).catch((): string[] => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const path = join(parent, name);
    if (await isAbandoned(path)) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * A folder without a socket counts as in use. Only the user's own folders are removed, because another owner
 * could replace one by a symlink during removal.
 */
async function isAbandoned(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory() || found.uid !== process.geteuid?.()) return false;
  const socket = connect(join(path, OWNER));
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
