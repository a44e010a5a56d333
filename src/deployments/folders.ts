import { chmod, chown, mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../core/remove-tree.ts';
import { giveTo } from './process/files.ts';
import { diskUsage } from './process/usage.ts';
import type { BuildRequest } from './request.ts';

/** Where a build works. Those that its commands may write are within folders that belong to the server's user. */
export interface BuildFolders {
  /** The source; it stays. */
  readonly root: string;
  readonly home: string;
  readonly tmp: string;
  readonly cache: string;
  /** What the cache occupied before the build, bytes. */
  readonly cache_before: number;
  /** Gives what the build may write to a user. */
  handOver(uid: number): Promise<void>;
  /** Removes what only the build needed, and closes the folders to other users. */
  close(): Promise<void>;
}

/** Where the files of a fetch are, within the folder of a revision. */
export function fetchFolder(folder: string): string {
  return join(folder, 'fetch');
}

/** With root's privileges, builds run as another user, who must get through to its own folders. */
const OPEN = 0o711;
const CLOSED = 0o700;
const PASS = 0o011;

/** Makes the folders of a build, and removes what an interrupted one left there. */
export async function buildFolders({ folder, cache, open_from }: BuildRequest): Promise<BuildFolders> {
  const isRoot = process.getuid?.() === 0;
  for (const path of [folder, cache]) await makeFolder(path, isRoot, open_from);
  const [root, home, tmp] = ['source', 'home', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const packages = join(cache, 'packages');
  // What a build left behind that was killed may hold a deploy key.
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
 * A cache of another user is made anew: it may hold links to files that are not of the build, and whose owner would
 * change with it.
 */
async function ownCache(packages: string, uid: number): Promise<void> {
  const { uid: owner } = await stat(packages);
  if (owner === uid) return;
  await removeTree(packages);
  await mkdir(packages, { mode: CLOSED });
  await chown(packages, uid, uid);
}

/** Makes a folder. For root's builds it is opened, with the parents that had to be made, and those from `open_from` down. */
async function makeFolder(path: string, isRoot: boolean, open_from: string | undefined): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: isRoot ? OPEN : CLOSED });
  if (!isRoot) return;
  await chmod(path, OPEN);
  for (let parent = dirname(path); parent !== dirname(parent); parent = dirname(parent)) {
    // The umask of the server may have closed what was made.
    const isOurs = [first, open_from].some((top) => top !== undefined && `${parent}/`.startsWith(`${top}/`));
    if (!isOurs) return;
    await chmod(parent, (await stat(parent)).mode | PASS);
  }
}
