import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Metafile } from 'esbuild';

/** A source file of a bundle, with its size. */
export interface UiInput {
  readonly file: string;
  readonly bytes: number;
}

/**
 * Project files in a bundle. `styleSheets`: those that the bundler only knows in compiled form. Without packages: one
 * that changes under a running server requires more than a new bundle.
 */
export function inputsOf({ inputs }: Metafile, root: string, styleSheets: readonly UiInput[]): UiInput[] {
  const bundled = Object.entries(inputs)
    .filter(([path]) => !isVirtual(path))
    .map(([path, { bytes }]) => ({ file: resolve(root, path), bytes }));
  const byFile = new Map([...bundled, ...styleSheets].map((input) => [input.file, input]));
  return [...byFile.values()].filter(({ file }) => !file.split(sep).includes('node_modules'));
}

/** The entry program has no extension, and modules of a plugin are named by its namespace. */
function isVirtual(path: string): boolean {
  return !path.includes('.') || /^[\w-]+:/.test(path);
}

/** True if the files are as read at `begun_at`: one that is newer may have been read before it was saved. */
export async function areUnchanged(inputs: readonly UiInput[], begun_at: number): Promise<boolean> {
  const found = await Promise.all(inputs.map(({ file }) => stat(file).catch(() => undefined)));
  return found.every((now, i) => now && now.mtimeMs < begun_at && now.size === inputs[i]?.bytes);
}
