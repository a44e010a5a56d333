import { chown, cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { expect } from 'vitest';
import { command } from '../package/command.ts';
import { startContainer } from './container.ts';
import type { ContainerOptions, Image } from './engine.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const KEY = 'key-of-the-image';

/** The only graph of the projects in these tests: the example `echo`, which counts its messages. */
export async function writeGraph(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(join(ROOT, 'examples/echo/graph.ts'), join(folder, 'graph.ts'));
}

/** What a project needs beside the server. */
export const PACKAGES = { '@langchain/core': '^1.4.0', '@langchain/langgraph': '^1.7.3', zod: '^4.6.7' };

/** A project with its own packages and a lock file, as its author has it. */
export async function writeProject(folder: string): Promise<void> {
  await writeGraph(folder);
  const manifest = { name: 'of-the-image', private: true, type: 'module', dependencies: PACKAGES };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const config = { node_version: '24', graphs: { echo: './graph.ts:graph' }, env: '.env' };
  await writeFile(join(folder, 'langgraph.json'), JSON.stringify(config));
  await command('npm', ['install', '--package-lock-only'], { cwd: folder });
}

export interface Served {
  readonly image: Image;
  /** Who runs the container, and who owns its data. They differ where the container gives up root. */
  readonly uid: number;
  readonly owner?: number;
  readonly port: number;
  /** The environment names the port, instead of the image. */
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: ContainerOptions['mounts'];
  /** Where the data is put. */
  readonly folder: string;
}

/** The container answers, has a read-only root, ends when asked, and knows its threads when it runs again. */
export async function expectServed({
  image,
  uid,
  owner = uid,
  port,
  env,
  mounts,
  folder,
}: Served): Promise<void> {
  const data = await mkdtemp(join(folder, 'data-'));
  await chown(data, owner, owner);
  const options: ContainerOptions = {
    uid,
    env: { AGENT_SERVER_API_KEYS: KEY, ...env },
    mounts: { ...mounts, '/data': data },
  };
  const client = new Client({ apiUrl: `http://127.0.0.1:${port}`, apiKey: KEY });
  const inside = (...args: string[]) => {
    const container = image.container(options, args);
    return command(container.name, container.args, { cwd: folder });
  };
  const say = (word: string) => ({ input: { messages: [{ role: 'user', content: word }] } });

  await using first = await startContainer(image.container(options));
  for (const path of ['/ok', '/docs/guides/monitoring.md'])
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200);
  await inside('sh', '-c', image.config.Healthcheck.Test[1] as string);
  expect((await inside('id', '-u')).trim()).toBe(String(owner));
  for (const path of ['/opt/agent-server/new', join(image.config.WorkingDir, 'new')])
    await expect(inside('touch', path)).rejects.toThrow('Read-only file system');
  const { thread_id } = await client.threads.create();
  expect(await client.runs.wait(thread_id, 'echo', say('one'))).toMatchObject({ count: 1 });
  expect(await first.stop()).toBe(0);

  await using second = await startContainer(image.container(options));
  expect((await client.threads.getState(thread_id)).values).toMatchObject({ count: 1 });
  expect(await client.runs.wait(thread_id, 'echo', say('two'))).toMatchObject({ count: 2 });
  expect(await second.stop()).toBe(0);
}
