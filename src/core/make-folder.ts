import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryOrUndefined } from './failure.ts';

/**
 * Makes a folder and the missing ones above it, with `mode`. Throws the error of the system if it cannot. Node's
 * `recursive` repeats `mkdir` without end where the parent exists and the system still says ENOENT, as below `/proc`.
 */
export function makeFolder(path: string, mode?: number): void {
  const isFolder = (folder: string) => tryOrUndefined(() => statSync(folder).isDirectory()) ?? false;
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have made it.
    if (!isFolder(path)) throw error;
  }
}
