import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { command } from './command.ts';
import { emptyFolder, nodeFolder, packedInto } from './pack.ts';

/** Programs by the names that `bareMachine` is asked for, in the package of the registry that has each. */
const PROGRAMS = {
  'npm-10': { spec: 'npm@10', files: { npm: 'bin/npm-cli.js', npx: 'bin/npx-cli.js' } },
  'npm-11': { spec: 'npm@11', files: { npm: 'bin/npm-cli.js', npx: 'bin/npx-cli.js' } },
  pnpm: { spec: 'pnpm@12', files: { pnpm: 'pnpm' } },
  'yarn-1': { spec: 'yarn@1', files: { yarn: 'bin/yarn.js' } },
  'yarn-4': { spec: '@yarnpkg/cli-dist@4', files: { yarn: 'bin/yarn.js' } },
  bun: { spec: 'bun@1', files: { bun: 'bin/bun.exe', bunx: 'bin/bunx.exe' } },
};

export type Program = keyof typeof PROGRAMS;

declare module 'vitest' {
  export interface ProvidedContext {
    /** Packed once for all tests: to build the package takes a minute. */
    readonly tarball: string;
    /** Has a folder with `node` for each tested major version, and one with links for each of `PROGRAMS`. */
    readonly programs: string;
    /** An empty home folder, the same for all: it holds the caches of the package managers. */
    readonly home: string;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await emptyFolder();
  const home = join(folder.path, 'home');
  await mkdir(home);
  provide('home', home);
  provide('tarball', await packedInto(folder.path));
  provide('programs', await programsIn(join(folder.path, 'programs')));
  return async () => {
    await folder[Symbol.asyncDispose]();
  };
}

async function programsIn(root: string): Promise<string> {
  const registry = join(root, 'registry');
  await mkdir(registry, { recursive: true });
  const wanted = Object.entries(PROGRAMS).map(([name, { spec }]) => [name, `npm:${spec}`]);
  const manifest = {
    private: true,
    dependencies: Object.fromEntries(wanted),
    allowScripts: { bun: true, pnpm: true },
  };
  await writeFile(join(registry, 'package.json'), JSON.stringify(manifest));
  await command('npm', ['install'], { cwd: registry });
  for (const [name, { files }] of Object.entries(PROGRAMS)) {
    await mkdir(join(root, name));
    for (const [program, file] of Object.entries(files))
      await symlink(join(registry, 'node_modules', name, file), join(root, name, program));
  }
  for (const major of [20, 22, 24]) {
    const bin = await nodeFolder(major, join(root, `registry-node-${major}`));
    await mkdir(join(root, `node-${major}`));
    await symlink(join(bin, 'node'), join(root, `node-${major}`, 'node'));
  }
  return root;
}
