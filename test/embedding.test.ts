import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { createApp, loadConfig, silentLogger } from '../src/index.ts';

test('a program can hold a server of its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-embedded-'));
  const { config } = await loadConfig({
    cwd: resolve(import.meta.dirname, 'fixtures/graphs'),
    flags: { 'server.port': '0', 'storage.url': `sqlite:${join(folder, 'server.db')}` },
  });
  {
    await using app = await createApp(config, { logger: silentLogger });
    const { url } = await app.listen();
    await app.ready();
    const client = new Client({ apiUrl: url, apiKey: null });
    expect(await client.runs.wait(null, 'echo', { input: { x: 1 } })).toMatchObject({ x: 1 });
  }
  await rm(folder, { recursive: true });
});

test('a server that cannot start lets go of its database', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-embedded-'));
  const { config } = await loadConfig({
    cwd: resolve(import.meta.dirname, 'fixtures/graphs'),
    flags: { 'storage.url': `sqlite:${join(folder, 'server.db')}` },
  });
  const broken = { ...config, http: { ...config.http, cors: null } } as unknown as typeof config;
  await expect(createApp(broken, { logger: silentLogger })).rejects.toThrow();
  await using app = await createApp(config, { logger: silentLogger });
  expect(app.graphs.ids).toContain('echo');
  await rm(folder, { recursive: true });
});
