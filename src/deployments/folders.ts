import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

/** With root's privileges, builds run as another user, who must get through to its own folders. */
const OPEN = 0o711;
const CLOSED = 0o700;

/** Makes the folders of a build, and removes what an interrupted one left there. */
export async function buildFolders({ folder, cache }: BuildRequest): Promise<BuildFolders> {
  const isRoot = process.getuid?.() === 0;
  for (const path of [folder, cache]) await makeFolder(path, isRoot);
  const [root, home, tmp] = ['source', 'home', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const packages = join(cache, 'packages');
  for (const path of [root, home, tmp]) await rm(path, { recursive: true, force: true });
  await rm(join(folder, 'build.json'), { force: true });
  for (const path of [home, tmp, packages]) await mkdir(path, { recursive: true, mode: CLOSED });
  return {
    root,
    home,
    tmp,
    cache: packages,
    cache_before: await diskUsage([packages]),
    handOver: (uid) => giveTo(uid, [root, home, tmp, packages]),
    async close() {
      for (const path of [home, tmp]) await rm(path, { recursive: true, force: true });
      for (const path of [folder, cache]) await chmod(path, CLOSED);
    },
  };
}

/** Opens the folder itself and the parents that had to be made. Parents that exist are their maker's to open. */
async function makeFolder(path: string, isRoot: boolean): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: isRoot ? OPEN : CLOSED });
  if (!isRoot) return;
  // The umask of the server may have closed them.
  for (let each = path; first !== undefined && each.startsWith(first); each = dirname(each))
    await chmod(each, OPEN);
  await chmod(path, OPEN);
}
