import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyBlock } from '../examples/blocks.ts';
import { emptyFolder, packedInto } from '../package/pack.ts';
import { projectIn } from '../package/project.ts';
import { registryWith } from '../package/registry.ts';
import { freePort } from '../support/free-port.ts';
import { type Engine, engineIn, type Image } from './engine.ts';
import { expectStreaming } from './project-story.ts';
import { expectServed, writeGraph, writeProject } from './story.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const INSTALL = 'docs/install.md';
const MAX_COMPRESSED_BYTES = 250e6;
/** A user that the image does not know. */
const UID = 12_345;

let folder: Awaited<ReturnType<typeof emptyFolder>>;
let engine: Engine;
let image: Image;

beforeAll(async () => {
  folder = await emptyFolder();
  engine = await engineIn(folder.path);
  image = await engine.build('agent-server', ROOT);
});

afterAll(() => folder[Symbol.asyncDispose]());

test('the image serves a mounted project as an arbitrary user on a read-only root, and keeps its threads', async () => {
  const app = join(folder.path, 'mounted');
  await writeGraph(app);
  await mkdir(join(app, 'node_modules'));
  await writeFile(join(app, 'agent.config.yaml'), 'graphs: { echo: "./graph.ts:graph" }\n');
  const port = await freePort();
  const packages = await realpath(join(ROOT, 'node_modules'));
  const mounts = { '/app': app, '/app/node_modules': packages };
  await expectServed({ image, uid: UID, port, env: { PORT: String(port) }, mounts, folder: folder.path });
});

test('the image belongs to no root user, says what it is, and stays below 250 MB for a download', async () => {
  expect(image.config).toMatchObject({
    User: 'node',
    Labels: {
      'org.opencontainers.image.title': 'Agent Server',
      'org.opencontainers.image.licenses': 'MIT',
    },
    ExposedPorts: { '8123/tcp': {} },
  });
  expect(await image.compressedBytes()).toBeLessThan(MAX_COMPRESSED_BYTES);
});

test('docs/deploy-recipes.md: its Dockerfile makes an image that serves a project', async () => {
  const context = join(folder.path, 'of-the-docs');
  await writeProject(context);
  const page = 'docs/deploy-recipes.md';
  await writeFile(join(context, 'Dockerfile'), onlyBlock(page, 'dockerfile', 'FROM agent-server'));
  await writeFile(join(context, '.dockerignore'), onlyBlock(page, 'dockerignore', 'node_modules'));
  const built = await engine.build('agents', context);
  expect(built.config.User).toBe('node');
  const port = await freePort();
  await expectServed({ image: built, uid: 1_000, port, env: { PORT: String(port) }, folder: folder.path });
});

test('docs/install.md: a project that came by name from a registry becomes a container by one more command, and streams', async () => {
  await using registry = await registryWith(await packedInto(folder.path));
  const place = join(folder.path, 'of-a-stranger');
  // A cache of its own: what is installed by name here must not be found by that name later.
  const env = {
    npm_config_registry: registry.url,
    npm_config_cache: join(place, 'npm-cache'),
    // As somebody who is asked answers.
    npm_config_yes: 'true',
  };
  const [init = '', enter, install = ''] = onlyBlock(INSTALL, 'sh', 'init my-agent').split('\n');
  const [node, app] = [dirname(process.execPath), join(place, 'my-agent')];
  await mkdir(place);
  await projectIn(place, node, env).run(init);
  expect(enter).toBe('cd my-agent');
  // As a project whose registry is not the public one.
  await writeFile(join(app, '.npmrc'), `registry=${registry.url}\n`);
  await projectIn(app, node, env).run(install);

  const [, options] =
    /^docker run (.+) \$\(docker build -q \.\)$/m.exec(onlyBlock(INSTALL, 'sh', 'docker')) ?? [];
  expect(options?.split(/ (?=-)/)).toEqual([
    '-p 8123:8123',
    '-e AGENT_SERVER_API_KEYS=my-key',
    '-v agent-data:/data',
  ]);
  await expectStreaming(await engine.build('of-a-stranger', app), folder.path, /json/);

  // What an existing project copies is what `init` has written.
  const copied = () =>
    Promise.all(['Dockerfile', '.dockerignore'].map((name) => readFile(join(app, name), 'utf8')));
  const written = await copied();
  for (const line of onlyBlock('docs/deployment.md', 'sh', 'cp node_modules').trim().split('\n'))
    await projectIn(app, node).run(line);
  expect(await copied()).toEqual(written);
});
