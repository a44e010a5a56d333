import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test, vi } from 'vitest';
import { openSqlite } from '../src/db/engines/sqlite.ts';
import { raw } from '../src/db/sql.ts';
import { createApp, loadConfig, silentLogger } from '../src/index.ts';

test('a program can embed a server', async () => {
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

test('a server that cannot start closes its database', async () => {
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

test('a server whose graph hosts cannot start closes its database', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-embedded-'));
  const { config } = await loadConfig({
    cwd: resolve(import.meta.dirname, 'fixtures/graphs'),
    flags: { 'storage.url': `sqlite:${join(folder, 'server.db')}` },
  });
  vi.stubEnv('TMPDIR', join(folder, 'missing'));
  const withHosts = { ...config, hosts: { ...config.hosts, count: 1 } };
  await expect(createApp(withHosts, { logger: silentLogger })).rejects.toThrow('ENOENT');
  vi.unstubAllEnvs();
  await using app = await createApp(config, { logger: silentLogger });
  expect(app.graphs.ids).toContain('echo');
  await rm(folder, { recursive: true });
});

test('a server whose database fails during shutdown releases its port and its database', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-embedded-'));
  const file = join(folder, 'server.db');
  const { config } = await loadConfig({
    cwd: resolve(import.meta.dirname, 'fixtures/graphs'),
    flags: { 'server.port': '0', 'storage.url': `sqlite:${file}` },
  });
  const app = await createApp(config, { logger: silentLogger });
  const { url } = await app.listen();
  await app.ready();
  await change(file, 'alter table workers rename to mislaid');
  await expect(app.stop(0)).rejects.toThrow('workers');
  await expect(fetch(`${url}/ok`)).rejects.toThrow();
  await change(file, 'alter table mislaid rename to workers');
  await using again = await createApp(config, { logger: silentLogger });
  expect(again.graphs.ids).toContain('echo');
  await rm(folder, { recursive: true });
});

/** What happens to a server's database behind its back. */
async function change(file: string, statement: string): Promise<void> {
  await using db = openSqlite(file, { synchronous: 'normal', shared: true });
  await db.run(raw(statement));
}
