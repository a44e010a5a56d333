import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import type { CopiedSources } from './copied-sources.ts';

export const ALL_EXTENSIONS = readdirSync(resolve(import.meta.dirname, '../../src/extensions'), {
  withFileTypes: true,
})
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Takes the folders of extensions out of a copy until it is disposed, with what names them in the list. */
export function without(names: readonly string[], { folder }: CopiedSources): Disposable {
  const file = join(folder, 'src/extensions/index.ts');
  const folderOf = (name: string) => join(folder, 'src/extensions', name);
  const aside = (name: string) => join(folder, `without-${name}`);
  const list = readFileSync(file, 'utf8');
  let text = list;
  for (const name of names) {
    renameSync(folderOf(name), aside(name));
    const found = new RegExp(`import \\{ (\\w+) \\} from '\\./${name}/extension\\.ts';\n`).exec(text);
    expect([name, found]).toEqual([name, expect.anything()]);
    const [line, constant] = found as unknown as [string, string];
    text = text.replace(line, '').replace(new RegExp(`\\b${constant}\\b,?\\s*`), '');
  }
  writeFileSync(file, text);
  return {
    [Symbol.dispose]() {
      writeFileSync(file, list);
      for (const name of names) renameSync(aside(name), folderOf(name));
    },
  };
}
