import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onlyBlock } from '../examples/blocks.ts';
import { bareMachine } from './bare-machine.ts';
import { cloneInto } from './clone.ts';
import { emptyFolder } from './pack.ts';
import { post, serving } from './serving.ts';

// `.ci/run` begins with the same commands, on Node 24.
test('with npm 10, Node 20 and no other program, both commands of the README work in a clone', async () => {
  await using folder = await emptyFolder();
  const root = join(folder.path, 'agent-server');
  await cloneInto(root);
  const lock = await readFile(join(root, 'package-lock.json'), 'utf8');
  const clone = await bareMachine(root, 20, 'npm-10');

  expect(await clone.run('npm ci')).not.toMatch(/warn|EBADENGINE|gyp/);
  expect(await readFile(join(root, 'package-lock.json'), 'utf8')).toBe(lock);
  expect((await stat(join(root, 'dist/studio/index.html'))).size).toBeGreaterThan(0);

  await using server = await serving({ ...clone, env: { ...clone.env, PORT: '0' } }, 'npm start');
  const answer = await post(server, '/runs/wait', { assistant_id: 'echo', input: { messages: 'Hello' } });
  expect(answer.status).toBe(200);
  const ask = onlyBlock('README.md', 'sh', 'npx agent-server ask').trim();
  expect(await clone.run(`${ask} --url ${server.url}`)).toContain('on Saturday from 9:00 to 16:00');
  // The whole suite takes too long here; the second file starts a server.
  expect(await clone.run('npm test -- test/core/ids.test.ts test/http/system.test.ts')).toMatch(/\d+ passed/);
});

test('a project that `init` creates next to a clone can be installed from its lock file and checked', async () => {
  await using folder = await emptyFolder();
  const app = await bareMachine(join(folder.path, 'app'), 24, 'npm-10');
  await mkdir(app.root);
  await app.run(`node ${process.cwd()}/bin/agent-server.mjs init .`);
  await app.run('npm install');
  expect(await readFile(join(app.root, 'package-lock.json'), 'utf8')).not.toContain('hasInstallScript');
  await rm(join(app.root, 'node_modules'), { recursive: true });

  await app.run('npm ci');
  expect(await app.run('npx agent-server check')).toContain('ok      agent');
});
