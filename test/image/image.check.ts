import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyBlock } from '../examples/blocks.ts';
import { command } from '../package/command.ts';
import { emptyFolder } from '../package/pack.ts';
import { freePort } from '../support/free-port.ts';
import { type Engine, engineIn, type Image } from './engine.ts';
import { expectStreaming } from './project-story.ts';
import { expectServed, writeGraph, writeProject } from './story.ts';

const ROOT = resolve(import.meta.dirname, '../..');
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

test('an image of a new project with the package of the server in it streams', async () => {
  const app = join(folder.path, 'of-init');
  await command(process.execPath, ['bin/agent-server.mjs', 'init', app, '--vendor'], { cwd: ROOT });
  await command('npm', ['install', '--package-lock-only'], { cwd: app });
  const built = await engine.build('of-init', app);
  await expectStreaming(built, folder.path, /json/);
});
