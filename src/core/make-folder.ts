import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryOrUndefined } from './failure.ts';

/**
 * Creates a folder and its missing parents, with `mode`. Throws the system's error if it cannot. Node's `recursive`
 * repeats `mkdir` forever where the parent exists and the system still reports ENOENT, as below `/proc`.
 */
export function makeFolder(path: string, mode?: number): void {
  const isFolder = (folder: string) => tryOrUndefined(() => statSync(folder).isDirectory()) ?? false;
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have created it.
    if (!isFolder(path)) throw error;
  }
}
