import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, parse, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Jiti } from 'jiti';
import { after } from '../../core/timers.ts';
import { withTsconfigPaths } from '../../graphs/project/tsconfig-paths.ts';

/** Debounce, ms: editors write a file in several steps. */
const DEBOUNCE_MS = 40;

/**
 * Waits for a file to change, appear or disappear. Watches folders, because editors replace files instead of writing in
 * place. A path without an extension stands for a file that does not exist yet.
 */
export class FileWatcher implements Disposable {
  #folders: FSWatcher[] = [];
  #debounce: Disposable | undefined;
  #change = Promise.withResolvers<string>();

  /** Replaces the set of watched files. */
  watch(files: Iterable<string>): void {
    const before = this.#folders;
    this.#folders = [...Map.groupBy(files, dirname)].flatMap(([folder, paths]) =>
      this.#watchFolder(folder, new Set(paths.map((path) => basename(path)))),
    );
    // Close the old watchers last, or a change in between would be missed.
    for (const watcher of before) watcher.close();
  }

  /** Resolves to the file of a change since the last call. */
  async next(): Promise<string> {
    const file = await this.#change.promise;
    this.#change = Promise.withResolvers();
    return file;
  }

  [Symbol.dispose](): void {
    this.#debounce?.[Symbol.dispose]();
    for (const watcher of this.#folders) watcher.close();
  }

  #watchFolder(folder: string, names: ReadonlySet<string>): FSWatcher[] {
    try {
      const watcher = watch(folder, (_, name) => {
        if (name !== null && (names.has(name) || names.has(parse(name).name)))
          this.#changed(join(folder, name));
      });
      // The folder was deleted; the next `watch` looks for it again.
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      // The folder does not exist: its parent, or the parent of that, sees it appear.
      const parent = dirname(folder);
      return parent === folder ? [] : this.#watchFolder(parent, new Set([basename(folder)]));
    }
  }

  #changed(file: string): void {
    this.#debounce?.[Symbol.dispose]();
    this.#debounce = after(DEBOUNCE_MS, () => this.#change.resolve(file));
  }
}

const SOURCE = /\.[cm]?[jt]sx?$/;
/** A regex, not a parser: a file with syntax errors must be watched, too. */
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*(['"])([^'"\n]+)\1/g;

/**
 * Entry files and their transitive imports, without installed packages. Not only below `root`: it may be a link, and a
 * package of a monorepo has a folder of its own. An import that does not resolve yet is listed without an extension.
 */
export async function importedFiles(entries: readonly string[], root: string): Promise<ReadonlySet<string>> {
  const find = (jiti: Jiti) => importsFrom(entries, root, jiti);
  return await withTsconfigPaths(join(root, 'index.ts'), {}, find);
}

async function importsFrom(
  entries: readonly string[],
  root: string,
  jiti: Jiti,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const queue = [...entries];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file) || !isProjectFile(file, root)) continue;
    found.add(file);
    if (!SOURCE.test(file)) continue;
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const [, , specifier = ''] of text.matchAll(SPECIFIER)) {
      const url = jiti.esmResolve(specifier, { parentURL: pathToFileURL(file).href, try: true });
      if (url?.startsWith('file:')) queue.push(fileURLToPath(url));
      else if (specifier.startsWith('.')) queue.push(resolve(dirname(file), specifier));
    }
  }
  return found;
}

function isProjectFile(file: string, root: string): boolean {
  const parts = relative(root, file).split(sep);
  return !parts.some((part) => part === 'node_modules' || part === '.agent-server');
}
