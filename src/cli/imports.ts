import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';

const SOURCE = /\.[cm]?[jt]sx?$/;
/** Read as text and not as syntax: a file that does not compile must be watched too. */
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*(['"])([^'"\n]+)\1/g;

/**
 * The entry files and everything they import, directly or not, that lies in the project: below `root` and not in
 * a package. An import of a file that is not there yet is listed without an extension.
 */
export async function importedFiles(entries: readonly string[], root: string): Promise<ReadonlySet<string>> {
  const jiti = createJiti(pathToFileURL(`${root}${sep}`).href, { tsconfigPaths: true });
  const found = new Set<string>();
  const queue = [...entries];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file) || !isOfProject(file, root)) continue;
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

function isOfProject(file: string, root: string): boolean {
  const path = relative(root, file);
  return (
    !path.startsWith('..') &&
    !path.split(sep).some((part) => part === 'node_modules' || part === '.agent-server')
  );
}
