import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Metafile } from 'esbuild';

/** A file that a bundle was made of, with its size. */
export interface UiInput {
  readonly file: string;
  readonly bytes: number;
}

/**
 * The files of the project in a bundle. `sheets` are those that the bundler knows only by what they were compiled to.
 * A package that changes under a running server asks for more than a new bundle.
 */
export function inputsOf({ inputs }: Metafile, root: string, styleSheets: readonly UiInput[]): UiInput[] {
  const bundled = Object.entries(inputs)
    .filter(([path]) => !isVirtual(path))
    .map(([path, { bytes }]) => ({ file: resolve(root, path), bytes }));
  const byFile = new Map([...bundled, ...styleSheets].map((input) => [input.file, input]));
  return [...byFile.values()].filter(({ file }) => !file.split(sep).includes('node_modules'));
}

/** The program around the components has no extension, and what a plugin makes is named by its namespace. */
function isVirtual(path: string): boolean {
  return !path.includes('.') || /^[\w-]+:/.test(path);
}

/** Whether the files are as they were read at `begun_at`: one that is younger may have been read before it was saved. */
export async function areUnchanged(inputs: readonly UiInput[], begun_at: number): Promise<boolean> {
  const found = await Promise.all(inputs.map(({ file }) => stat(file).catch(() => undefined)));
  return found.every((now, i) => now && now.mtimeMs < begun_at && now.size === inputs[i]?.bytes);
}
