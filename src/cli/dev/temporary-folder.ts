import { once } from 'node:events';
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'agent-server-dev-';
/** Socket in a folder on which its process listens for as long as it lives: also where process ids are no proof. */
const OWNER = 'owner';

/**
 * A private temporary folder, not writable by other users. Removes those of killed processes, which could not do so
 * themselves.
 */
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

/** `undefined` where there are no sockets in folders. */
async function listenIn(path: string) {
  const server = createServer((socket) => socket.destroy()).unref();
  // Under another name until it listens: before that, it would seem to be that of a killed process.
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

/** Without a socket nobody knows. While a folder is removed, its owner could put a link in its place: only own ones are. */
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
