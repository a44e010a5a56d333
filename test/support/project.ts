import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export interface Project extends AsyncDisposable {
  readonly root: string;
  path(name: string): string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
}

/** Those of this repository. */
export const PACKAGES = resolve(import.meta.dirname, '../../node_modules');

/** A folder of its own with these files and the packages of this repository; gone when the test ends. */
export async function project(files: Readonly<Record<string, string>>): Promise<Project> {
  const root = await mkdtemp(join(tmpdir(), 'agent-server-test-'));
  const path = (name: string) => join(root, name);
  const write = async (contents: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(contents)) {
      await mkdir(dirname(path(name)), { recursive: true });
      await writeFile(path(name), content);
    }
  };
  await symlink(PACKAGES, path('node_modules'));
  await write(files);
  return { root, path, write, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}
