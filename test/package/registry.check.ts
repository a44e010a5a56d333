import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { filesOf, onlyBlock } from '../examples/blocks.ts';
import { freePort } from '../support/free-port.ts';
import { bareMachine } from './bare-machine.ts';
import { command } from './command.ts';
import { emptyFolder } from './pack.ts';
import { type Registry, registryWith } from './registry.ts';
import { serving } from './serving.ts';

const PAGE = 'docs/install.md';
const { version } = JSON.parse(await readFile('package.json', 'utf8'));
const NAME = `agent-server-${version}.tgz`;
const CONFIGURATION = onlyBlock(PAGE, 'yaml', 'graphs:');

let registry: Registry;
let folder: Awaited<ReturnType<typeof emptyFolder>>;

beforeAll(async () => {
  registry = await registryWith(inject('tarball'));
  folder = await emptyFolder();
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
});

const readJson = async (file: string) => JSON.parse(await readFile(file, 'utf8'));

/** The files in a package. */
const listed = async (tarball: string) =>
  (await command('tar', ['-tzf', tarball], { cwd: folder.path })).trim().split('\n').sort();

/** A machine with Node and npm alone, whose registry has the server. */
const machine = (root: string, more: NodeJS.ProcessEnv = {}) =>
  bareMachine(root, 24, 'npm-11', { npm_config_registry: registry.url, ...more });

test('docs/install.md: in an empty folder, by name from a registry, its commands lead to an agent that answers', async () => {
  const port = String(await freePort());
  const place = await machine(folder.path, { PORT: port, LOG_JSON: 'true' });
  const [init = '', enter, install = '', dev = ''] = onlyBlock(PAGE, 'sh', 'init my-agent')
    .trim()
    .split('\n');
  const asked = onlyBlock(PAGE, 'sh', 'ask agent').trim();

  const begun = performance.now();
  expect(await place.run(init)).toContain('cd my-agent');
  expect(enter).toBe('cd my-agent');
  const app = await machine(join(folder.path, 'my-agent'), { PORT: port, LOG_JSON: 'true' });
  expect(await app.run(install)).not.toMatch(/gyp|install scripts|EBADENGINE|deprecated/i);
  expect(await app.run('npx agent-server version')).toBe(`${version}\n`);

  await using _server = await serving(app, dev);
  expect(await app.run(asked)).toMatch(/^Hello! /);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  process.stdout.write(`from an empty folder to the answer: ${seconds} s\n`);
});

test('docs/install.md: an existing project installs the server by name and version, checks it, and its own program compiles', async () => {
  const root = join(folder.path, 'existing');
  const app = await machine(root);
  const others = {
    'package.json': '{ "private": true, "type": "module" }',
    'agent.config.yaml': CONFIGURATION,
  };
  for (const [name, text] of Object.entries({ ...filesOf(PAGE), ...others })) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  await app.run(onlyBlock(PAGE, 'sh', 'npm install agent-server@').trim());
  const [check = ''] = onlyBlock(PAGE, 'sh', 'npx agent-server check').trim().split('\n');

  expect((await readJson(join(root, 'package.json'))).dependencies['agent-server']).toBe(`^${version}`);
  expect(await app.run(check)).toContain(onlyBlock(PAGE, 'text', 'ok ').trim());

  await app.run('npm install typescript@7 @types/node@24');
  for (const flags of ['--module nodenext', '--module esnext --moduleResolution bundler'])
    await app.run(`npx tsc --noEmit --strict --target es2024 --types node ${flags} serve.ts`);
});

test('a project of `init --vendor` has the package of the server in it, and is installed where no registry has that', async () => {
  const place = await machine(folder.path);
  expect(await place.run('npx agent-server init vendored --vendor')).toContain(`vendor/${NAME}`);
  const root = join(folder.path, 'vendored');
  expect(await readdir(join(root, 'vendor'))).toEqual([NAME]);
  expect((await readJson(join(root, 'package.json'))).dependencies['agent-server']).toBe(
    `file:vendor/${NAME}`,
  );
  expect(await listed(join(root, 'vendor', NAME))).toEqual(await listed(inject('tarball')));

  const author = await bareMachine(root, 24, 'npm-11');
  await author.run('npm install');
  const copy = join(folder.path, 'of-a-colleague');
  await rm(join(root, 'node_modules'), { recursive: true });
  await cp(root, copy, { recursive: true });
  const colleague = await bareMachine(copy, 22, 'npm-10');
  await colleague.run('npm ci');
  expect(await colleague.run('npx agent-server check')).toContain('ok      agent');

  const { dependencies, ...manifest } = await readJson(join(copy, 'package.json'));
  const { 'agent-server': _vendored, ...others } = dependencies;
  const named = { ...manifest, dependencies: others, devDependencies: { 'agent-server': '^0.9.0' } };
  await writeFile(join(copy, 'package.json'), JSON.stringify(named));
  await colleague.run('npx agent-server init --vendor');
  const again = await readJson(join(copy, 'package.json'));
  expect(again.devDependencies).toMatchObject({ 'agent-server': `file:vendor/${NAME}` });
  expect(again.dependencies).toEqual(others);
});

test('the package has nothing that publint complains about', async () => {
  const printed = await command('npx', ['--yes', 'publint@0.3.25', '--strict', inject('tarball')], {
    cwd: folder.path,
  });
  expect(printed).toContain('All good!');
});

test('the package can be published', async () => {
  const args = ['publish', inject('tarball'), '--dry-run', '--tag', 'next', '--provenance=false'];
  expect(await command('npm', args, { cwd: folder.path })).toContain(`+ agent-server@${version}`);
});
