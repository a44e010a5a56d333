import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './blocks.ts';

export interface Folder extends AsyncDisposable {
  readonly root: string;
}

/** A folder with these files inside the repository, where they find its packages; gone when the test ends. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<Folder> {
  const ignored = join(ROOT, '.agent-server');
  await mkdir(ignored, { recursive: true });
  const root = await mkdtemp(join(ignored, 'project-'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(root, name), content);
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}
