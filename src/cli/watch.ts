import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { after } from '../core/timers.ts';

/** Editors write a file in several steps; a change is told when this long nothing more has happened. */
const SETTLE_MS = 40;

/**
 * Waits for one of some files to change, appear or go. It watches their folders, because editors replace a file
 * rather than write into it. A path without an extension stands for a file that is not there yet.
 */
export class FileWatcher implements Disposable {
  #folders: FSWatcher[] = [];
  #settling: Disposable | undefined;
  #change = Promise.withResolvers<string>();

  /** Watches these files instead of the ones before. */
  watch(files: Iterable<string>): void {
    const before = this.#folders;
    this.#folders = [...Map.groupBy(files, dirname)].flatMap(([folder, paths]) =>
      this.#watchFolder(folder, new Set(paths.map((path) => basename(path)))),
    );
    // Only now, or a change in between would be missed.
    for (const watcher of before) watcher.close();
  }

  /** Resolves to the file of a change since the last call. */
  async next(): Promise<string> {
    const file = await this.#change.promise;
    this.#change = Promise.withResolvers();
    return file;
  }

  [Symbol.dispose](): void {
    this.#settling?.[Symbol.dispose]();
    for (const watcher of this.#folders) watcher.close();
  }

  #watchFolder(folder: string, names: ReadonlySet<string>): FSWatcher[] {
    try {
      const watcher = watch(folder, (_, name) => {
        if (name !== null && (names.has(name) || names.has(parse(name).name)))
          this.#settle(join(folder, name));
      });
      // The folder itself went; whoever watches next looks for it again.
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  }

  #settle(file: string): void {
    this.#settling?.[Symbol.dispose]();
    this.#settling = after(SETTLE_MS, () => this.#change.resolve(file));
  }
}
