import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onlyBlock } from '../examples/blocks.ts';
import { bareMachine } from '../package/bare-machine.ts';
import { cloneInto } from '../package/clone.ts';
import { emptyFolder } from '../package/pack.ts';
import { serving } from '../package/serving.ts';
import { streamedBy } from '../package/streamed.ts';
import { freePort } from '../support/free-port.ts';

test('docs/install.md: its commands for a clone put the package of the server into a project, which is installed and asked without the clone', async () => {
  await using folder = await emptyFolder();
  const [enter, init = '', start = ''] = onlyBlock('docs/install.md', 'sh', '--vendor').trim().split('\n');
  const clone = join(folder.path, 'agent-server');
  await cloneInto(clone);
  const port = String(await freePort());
  const env = { PORT: port, LOG_JSON: 'true' };
  const outside = await bareMachine(folder.path, 24, 'npm-11', env);

  await outside.run(enter ?? '');
  const inClone = await bareMachine(clone, 24, 'npm-11', env);
  await inClone.run(init);
  const root = join(folder.path, 'my-agent');
  expect(await readdir(join(root, 'vendor'))).toEqual([expect.stringMatching(/^agent-server-.*\.tgz$/)]);
  await rm(clone, { recursive: true });
  await using server = await serving(outside, `sh -c '${start.replace('../', '')}'`);
  expect(server.url).toContain(port);
  const app = await bareMachine(root, 24, 'npm-11', env);
  expect(await app.run(onlyBlock('docs/install.md', 'sh', 'ask agent').trim())).toMatch(/^Hello! /);

  await using other = await emptyFolder();
  const colleague = await bareMachine(other.path, 22, 'npm-10', { ...env, PORT: '0' });
  // As a clone of the project has it.
  const isOwn = (path: string) => !/node_modules|\.agent-server|\.env$/.test(path);
  await cp(root, other.path, { recursive: true, filter: isOwn });
  await colleague.run('npm ci');
  await using served = await serving(colleague, 'npm start');
  expect(await streamedBy(served.url)).toBeGreaterThan(1);
});
