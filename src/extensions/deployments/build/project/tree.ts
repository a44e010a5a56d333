import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface ProjectTree {
  /** Paths of all package.json files, relative to the root, sorted. */
  readonly manifests: readonly string[];
  /** Top-level node_modules folders, relative to the root, sorted. */
  readonly modules: readonly string[];
}

/** Maximum number of folders to search. */
const MAX_FOLDERS = 20_000;

/** Finds the manifests and package folders of a project. Does not follow links. */
export async function projectTree(root: string): Promise<ProjectTree> {
  const manifests: string[] = [];
  const modules: string[] = [];
  const folders = [''];
  for (let at = 0; at < folders.length && at < MAX_FOLDERS; at++) {
    const folder = folders[at] as string;
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === 'package.json' && entry.isFile()) manifests.push(path);
      if (!entry.isDirectory() || entry.name === '.git') continue;
      if (entry.name === 'node_modules') modules.push(path);
      else folders.push(path);
    }
  }
  return { manifests: manifests.sort(), modules: modules.sort() };
}
