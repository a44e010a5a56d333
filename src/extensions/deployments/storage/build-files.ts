import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../core/remove-tree.ts';

/** Builds of deployments, and the caches of their package managers. `home`: folder of a deployment. */
export function buildFiles(home: (name: string) => string) {
  const builds = (name: string) => join(home(name), 'builds');
  const cache = (name: string) => join(home(name), 'cache');
  const usageFile = (name: string) => join(home(name), 'disk-usage');

  return {
    build: (name: string, build_id: string) => join(builds(name), build_id),

    /** Ids of existing builds, finished or not. */
    buildIds: (name: string): Promise<string[]> => readdir(builds(name)).catch(ifMissing([])),

    removeBuild: (name: string, build_id: string) => removeTree(join(builds(name), build_id)),

    /** Package manager caches. */
    cache,

    /** Returns false if there is none. No build may run meanwhile. */
    async removeCache(name: string): Promise<boolean> {
      const found = await stat(cache(name)).catch(ifMissing(undefined));
      await removeTree(cache(name));
      return found !== undefined;
    },

    /** What counts against the disk quota: everything except data, logs and uploads. */
    measured: (name: string) => [builds(name), cache(name)],

    /** Last measured size of `measured`, bytes; `undefined` if unknown. */
    async usage(name: string): Promise<number | undefined> {
      const text = await readFile(usageFile(name), 'utf8').catch(ifMissing(''));
      return /^\d+$/.test(text) ? Number(text) : undefined;
    },

    /** The deployment may have been deleted meanwhile. */
    saveUsage: (name: string, bytes: number): Promise<void> =>
      writeFile(usageFile(name), `${bytes}`, { mode: 0o600 }).catch(ifMissing(undefined)),
  };
}

/** Fallback for a file that does not exist. */
export function ifMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
