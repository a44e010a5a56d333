import { chmod, chown, mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../../../core/remove-tree.ts';
import { giveTo } from './process/files.ts';
import { diskUsage } from './process/usage.ts';
import type { BuildRequest } from './request.ts';

/** Folders of a build. Those that its commands may write are inside folders owned by the server's user. */
export interface BuildFolders {
  /** The source, which remains after the build. */
  readonly root: string;
  readonly home: string;
  readonly tmp: string;
  readonly cache: string;
  /** Size of the cache before the build, bytes. */
  readonly cache_before: number;
  /** Makes `user` the owner of everything that the build may write. */
  handOver(uid: number): Promise<void>;
  /** Removes temporary files, and closes the folders to other users. */
  close(): Promise<void>;
}

/** Folder for the files of a fetch, inside the folder of a revision. */
export function fetchFolder(folder: string): string {
  return join(folder, 'fetch');
}

/** When the server runs as root, builds run as another user, who must be able to traverse to its own folders. */
const OPEN = 0o711;
const CLOSED = 0o700;
const PASS = 0o011;

/** Creates the folders of a build, after removing the remains of an interrupted one. */
export async function buildFolders({ folder, cache, open_from }: BuildRequest): Promise<BuildFolders> {
  const isRoot = process.getuid?.() === 0;
  for (const path of [folder, cache]) await makeFolder(path, isRoot, open_from);
  const [root, home, tmp] = ['source', 'home', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const packages = join(cache, 'packages');
  // The remains of a killed build may include a deploy key.
  for (const path of [root, home, tmp, fetchFolder(folder)]) await removeTree(path);
  await rm(join(folder, 'build.json'), { force: true });
  for (const path of [home, tmp, packages]) await mkdir(path, { recursive: true, mode: CLOSED });
  return {
    root,
    home,
    tmp,
    cache: packages,
    cache_before: await diskUsage([packages]),
    async handOver(uid) {
      await giveTo(uid, [root, home, tmp]);
      await ownCache(packages, uid);
    },
    async close() {
      for (const path of [home, tmp]) await removeTree(path);
      for (const path of [folder, cache]) await chmod(path, CLOSED);
    },
  };
}

/**
 * Recreates a cache that belongs to another user: a recursive chown would follow hard links to files outside the build.
 */
async function ownCache(packages: string, uid: number): Promise<void> {
  const { uid: owner } = await stat(packages);
  if (owner === uid) return;
  await removeTree(packages);
  await mkdir(packages, { mode: CLOSED });
  await chown(packages, uid, uid);
}

/** Creates a folder. For builds under root, opens it and the parents it had to create, from `open_from` down. */
async function makeFolder(path: string, isRoot: boolean, open_from: string | undefined): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: isRoot ? OPEN : CLOSED });
  if (!isRoot) return;
  await chmod(path, OPEN);
  for (let parent = dirname(path); parent !== dirname(parent); parent = dirname(parent)) {
    // The server's umask may have restricted the mode.
    const isOurs = [first, open_from].some((top) => top !== undefined && `${parent}/`.startsWith(`${top}/`));
    if (!isOurs) return;
    await chmod(parent, (await stat(parent)).mode | PASS);
  }
}
