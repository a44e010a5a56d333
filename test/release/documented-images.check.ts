import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { filesOf, onlyBlock } from '../examples/blocks.ts';
import { type Engine, engineIn } from '../image/engine.ts';
import { NODE, startProject } from '../image/project-story.ts';
import { expectServed, PACKAGES, writeProject } from '../image/story.ts';
import { command } from '../package/command.ts';
import { emptyFolder } from '../package/pack.ts';
import { projectIn } from '../package/project.ts';
import { freePort } from '../support/free-port.ts';
import { pythonWith } from '../support/python.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const BASE = 'agent-server-langgraph';

let folder: Awaited<ReturnType<typeof emptyFolder>>;
let engine: Engine;

beforeAll(async () => {
  folder = await emptyFolder();
  engine = await engineIn(folder.path);
  await engine.build('agent-server', ROOT);
  await engine.build(`${BASE}:24`, join(ROOT, 'deploy/langgraph'));
});

afterAll(() => folder[Symbol.asyncDispose]());

/** Writes the Dockerfile of a project. */
type Author = (context: string) => Promise<void>;

const byPython: Author = async (context) => {
  const python = pythonWith('langgraph_cli');
  if (python === undefined) throw new Error('TEST_PYTHON names no Python with langgraph-cli.');
  const program = join(python, '../langgraph');
  await command(program, ['dockerfile', '--base-image', BASE, 'Dockerfile'], { cwd: context });
};

const byJavaScript: Author = async (context) => {
  const args = ['--yes', '@langchain/langgraph-cli@1.5.1', 'dockerfile', 'Dockerfile'];
  await command('npx', args, { cwd: context });
  // It has no flag for the base of this file; docs/deploy-recipes.md replaces the base when it builds.
  const file = join(context, 'Dockerfile');
  const written = await readFile(file, 'utf8');
  expect(written).toMatch(/^FROM langchain\/langgraphjs-api:24\n/);
  await writeFile(file, written.replace('langchain/langgraphjs-api', BASE));
};

test.each([
  ['Python', byPython],
  ['JavaScript', byJavaScript],
])(
  'an image by the official %s command line is served at port 8000, without root',
  async (language, write) => {
    const context = join(folder.path, `by-${language}`);
    await writeProject(context);
    await write(context);
    const image = await engine.build(`by-${language.toLowerCase()}`, context);
    expect(image.config).toMatchObject({
      WorkingDir: `/deps/by-${language}`,
      ExposedPorts: { '8000/tcp': {} },
    });
    expect(image.config.Env).toContainEqual(expect.stringMatching(/^LANGSERVE_GRAPHS=.*graph\.ts/));
    expect(image.config.Env).toContain('PORT=8000');

    const port = await freePort();
    const env = { PORT: String(port) };
    await expectServed({ image, uid: 0, owner: NODE, port, env, folder: folder.path });
  },
);

test('docs/recipes/monorepo.md: its graph, which uses a package of the workspace, passes the check and is served by an image', async () => {
  const page = 'docs/recipes/monorepo.md';
  const root = join(folder.path, 'monorepo');
  const dependencies = { ...PACKAGES, '@acme/shared': '*' };
  const files = {
    ...filesOf(page),
    '.dockerignore': onlyBlock(page, 'dockerignore', 'node_modules'),
    'package.json': onlyBlock(page, 'json', 'workspaces'),
    'packages/shared/package.json': onlyBlock(page, 'json', 'exports'),
    'apps/agent/package.json': JSON.stringify({ name: 'agent', private: true, type: 'module', dependencies }),
    'apps/agent/Dockerfile': onlyBlock(page, 'dockerfile', 'FROM agent-server'),
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const project = projectIn(root, dirname(process.execPath));
  await project.run(`npx --yes --package ${inject('tarball')} agent-server init apps/agent --vendor`);
  const [install = '', check = ''] = onlyBlock(page, 'sh', 'check').split('\n');
  await project.run(install);
  expect(await project.run(check)).toContain('ok      greeter');

  const image = await engine.build('monorepo', root, 'apps/agent/Dockerfile');
  await using container = await startProject(image, folder.path);
  const client = new Client({ apiUrl: container.url, apiKey: container.key });
  const run = client.runs.wait(null, 'greeter', { input: { who: 'Ada' } });
  expect(await run).toMatchObject({ said: 'Hello Ada' });
  expect(await container.stop()).toBe(0);
});
