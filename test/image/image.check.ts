import { chown, cp, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { command } from '../package/command.ts';
import { emptyFolder } from '../package/pack.ts';
import { freePort } from '../support/free-port.ts';
import { startContainer } from './container.ts';
import { type ContainerOptions, engineIn } from './engine.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** A user that the image does not know. */
const UID = 12_345;
const KEY = 'key-of-the-image';

test('the image serves a project as an arbitrary user on a read-only root, and keeps its threads across a restart', async () => {
  await using folder = await emptyFolder();
  const engine = await engineIn(folder.path);
  await engine.build();
  const port = await freePort();
  const options: ContainerOptions = {
    uid: UID,
    env: { PORT: String(port), AGENT_SERVER_API_KEYS: KEY },
    mounts: await projectIn(folder.path),
  };
  const client = new Client({ apiUrl: `http://127.0.0.1:${port}`, apiKey: KEY });
  const inside = (...args: string[]) => {
    const container = engine.container(options, args);
    return command(container.name, container.args, { cwd: folder.path });
  };
  const say = (word: string) => ({ input: { messages: [{ role: 'user', content: word }] } });

  await using first = await startContainer(engine.container(options));
  for (const path of ['/ok', '/docs/guides/monitoring.md'])
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200);
  await inside('sh', '-c', await engine.healthCheck());
  await expect(inside('touch', '/opt/agent-server/new')).rejects.toThrow('Read-only file system');
  await expect(inside('touch', '/app/new')).rejects.toThrow('Read-only file system');
  const { thread_id } = await client.threads.create();
  expect(await client.runs.wait(thread_id, 'echo', say('one'))).toMatchObject({ count: 1 });
  expect(await first.stop()).toBe(0);

  await using second = await startContainer(engine.container(options));
  expect((await client.threads.getState(thread_id)).values).toMatchObject({ count: 1 });
  expect(await client.runs.wait(thread_id, 'echo', say('two'))).toMatchObject({ count: 2 });
  expect(await second.stop()).toBe(0);
});

/** A project with the example `echo`, and where a container mounts it. The packages are those of the repository. */
async function projectIn(folder: string): Promise<ContainerOptions['mounts']> {
  const [app, data] = [join(folder, 'app'), join(folder, 'data')];
  await mkdir(join(app, 'node_modules'), { recursive: true });
  await cp(join(ROOT, 'examples/echo/graph.ts'), join(app, 'graph.ts'));
  await writeFile(join(app, 'agent.config.yaml'), 'graphs: { echo: "./graph.ts:graph" }\n');
  await mkdir(data);
  await chown(data, UID, UID);
  return { '/app': app, '/app/node_modules': await realpath(join(ROOT, 'node_modules')), '/data': data };
}
