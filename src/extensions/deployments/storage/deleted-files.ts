import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../core/remove-tree.ts';
import { ifMissing } from './build-files.ts';

/**
 * Prefix that no deployment name has. The folder is next to the deployments' own, so that a move there works on a full
 * disk.
 */
const ASIDE = '.deleted-';

/** Files of deployments that are being deleted. `home`: folder of a deployment. */
export function deletedFiles(folder: string, home: (name: string) => string) {
  const apps = join(folder, 'apps');
  const aside = (deployment_id: string) => join(apps, `${ASIDE}${deployment_id}`);
  const foldersInApps = () => readdir(apps).catch(ifMissing([]));

  return {
    /** Names of the deployments that have files here, except those set aside. */
    names: async (): Promise<string[]> => (await foldersInApps()).filter((found) => !found.startsWith(ASIDE)),

    /**
     * Moves all files of a deployment that is about to be deleted to where a new one of the same name does not find
     * them.
     */
    setAside: (deployment_id: string, name: string): Promise<void> =>
      rename(home(name), aside(deployment_id)).catch(ifMissing(undefined)),

    /** Undoes `setAside`. */
    putBack: (deployment_id: string, name: string): Promise<void> =>
      rename(aside(deployment_id), home(name)).catch(ifMissing(undefined)),

    /** Ids of the deployments whose files were set aside, but neither restored nor deleted. */
    async idsAside(): Promise<string[]> {
      const found = await foldersInApps();
      return found.flatMap((name) => (name.startsWith(ASIDE) ? [name.slice(ASIDE.length)] : []));
    },

    /** Deletes the set-aside files of a deployment, its database and its uploads. */
    async remove(deployment_id: string): Promise<void> {
      await removeTree(aside(deployment_id));
      await removeTree(join(folder, 'uploads', deployment_id));
    },
  };
}
