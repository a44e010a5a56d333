import { copyFile, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { bareMachine } from './bare-machine.ts';
import { emptyFolder } from './pack.ts';
import { writeProject } from './project.ts';
import { post, serving } from './serving.ts';
import type { Program } from './setup.ts';

/** Cells of the table in docs/install.md: package manager, first installation, from the lock file, start. */
export const ROWS = [
  ...(await readFile('docs/install.md', 'utf8')).matchAll(/^\| (.+?) \| `(.+?)` \| `(.+?)` \| `(.+?)` \|$/gm),
].map(([, manager = '', install = '', again = '', start = '']) => ({ manager, install, again, start }));

interface Case {
  readonly program: Program;
  readonly node: 22 | 24;
  readonly row: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** Those that lay packages out in a way of their own: by links, and without a folder of them. For every change. */
export const UNLIKE_NPM: readonly Case[] = [
  { program: 'pnpm', node: 24, row: 'pnpm' },
  { program: 'yarn-4', node: 24, row: 'Yarn 4, PnP', files: { 'yarn.lock': '' } },
];

/** For a release. The versions of npm install the package in other tests for every change, too. */
export const LIKE_NPM: readonly Case[] = [
  { program: 'npm-10', node: 22, row: 'npm' },
  { program: 'npm-11', node: 24, row: 'npm' },
  { program: 'yarn-1', node: 22, row: 'Yarn 1' },
  {
    program: 'yarn-4',
    node: 22,
    row: 'Yarn 4, `nodeLinker: node-modules`',
    files: { 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\n' },
  },
  { program: 'bun', node: 24, row: 'bun' },
];

/** What a clone of the project does not have. */
const INSTALLED = ['node_modules', '.pnp.cjs', '.pnp.loader.mjs', '.yarn'];

/** A test for each of the cases. */
export function testInstallations(cases: readonly Case[]): void {
  test.each(cases)(
    'with $program, Node $node and no other program, the package installs, installs again, and serves: $row',
    async ({ program, node, row: name, files }) => {
      await using folder = await emptyFolder();
      const row = ROWS.find((each) => each.manager === name) as (typeof ROWS)[number];
      await writeProject(folder.path, files);
      await copyFile(inject('tarball'), join(folder.path, basename(inject('tarball'))));
      const project = await bareMachine(folder.path, node, program);

      const printed = await project.run(row.install);
      expect(printed).not.toMatch(/gyp|build scripts|install scripts|unmet peer|EBADENGINE/i);
      for (const path of INSTALLED) await rm(join(folder.path, path), { recursive: true, force: true });
      expect(await project.run(row.again)).not.toMatch(/gyp|build scripts|install scripts|EBADENGINE/i);

      await using server = await serving(project, row.start);
      const answer = await post(server, '/runs/wait', { assistant_id: 'greeter', input: { name: 'Ada' } });
      expect(await answer.json()).toEqual({ name: 'Ada', greeting: 'Hello Ada!' });
      const bundled = await post(server, '/ui/greeter', { name: 'card' });
      expect(bundled.status).toBe(200);
    },
  );
}
