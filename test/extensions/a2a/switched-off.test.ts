import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { createApp } from '../../../src/app.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { silentLogger } from '../../../src/core/logger.ts';
import { number } from '../../../src/db/columns.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { openKeyRotation, openStorage } from '../../../src/storage/storage.ts';
import { message, rpcTo } from '../../support/a2a.ts';
import { FIXTURES } from '../../support/app-parts.ts';
import { makeDataFolder } from '../../support/data-folder.ts';
import { TEST_KEY, testSealer } from '../../support/encryption.ts';

const OTHER_KEY = randomBytes(32).toString('base64');

/** A server on the database of the folder. */
async function serverIn(folder: string, { disable_a2a = false, key = TEST_KEY } = {}) {
  const { config } = await loadConfig({
    cwd: FIXTURES,
    environment: { DATABASE_URI: urlIn(folder), AGENT_SERVER_DATA_DIR: folder, LANGGRAPH_AES_KEY: key },
  });
  const graphs = config.graphs.filter(({ graph_id }) => graph_id === 'chat-question');
  const app = await createApp(
    { ...config, graphs, http: { ...config.http, ...{ disable_a2a } } },
    { logger: silentLogger },
  );
  await app.ready();
  const send = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
    const answer = await app.server.inject({ method, url, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() };
  };
  const post = (path: string, payload: unknown) => send('POST', path, payload as object);
  return {
    send,
    rpc: rpcTo({ post }, 'chat-question'),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

function urlIn(folder: string): string {
  return `sqlite:${join(folder, 'server.db')}`;
}

/** A task that waits for an answer, with a subscriber. */
async function askingTask({ rpc }: Awaited<ReturnType<typeof serverIn>>) {
  const { result } = await rpc('SendMessage', { message: message('Hi') });
  expect(result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const { id, contextId } = result.task;
  await rpc('CreateTaskPushNotificationConfig', { taskId: id, id: 'c', url: 'https://example.com/hook' });
  return { id, contextId };
}

async function rowsIn(folder: string): Promise<Record<string, number>> {
  await using storage = await openStorage({
    url: urlIn(folder),
    encryptor: testSealer(),
    owned: OWNED_DATA,
  });
  const counts: Record<string, number> = {};
  for (const table of ['a2a_tasks', 'a2a_turns', 'a2a_push_configs']) {
    const row = await storage.database.db.get(sql`select count(*) as ${number('rows')} from ${raw(table)}`);
    counts[table] = row?.rows ?? 0;
  }
  return counts;
}

test('tasks survive while A2A is switched off, but for those of deleted threads, and their keys are rotated', async () => {
  const folder = await makeDataFolder();
  const tasks = [];
  {
    await using on = await serverIn(folder);
    for (let i = 0; i < 2; i++) tasks.push(await askingTask(on));
  }
  const [kept, deleted] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
  {
    await using off = await serverIn(folder, { disable_a2a: true });
    for (const path of ['/a2a/chat-question', '/.well-known/agent-card.json'])
      expect((await off.send('GET', path)).status).toBe(404);
    expect((await off.send('DELETE', `/threads/${deleted.contextId}`)).status).toBe(204);
  }
  expect(await rowsIn(folder)).toEqual({ a2a_tasks: 1, a2a_turns: 1, a2a_push_configs: 1 });
  {
    const encryptor = testSealer(OTHER_KEY, [TEST_KEY]);
    await using rotation = await openKeyRotation({ url: urlIn(folder), encryptor, owned: OWNED_DATA });
    await rotation.rotate({ onTable: () => {} });
  }

  await using again = await serverIn(folder, { key: OTHER_KEY });
  const { rpc } = again;
  expect((await rpc('GetTask', { id: kept.id })).result).toMatchObject({
    status: { state: 'TASK_STATE_INPUT_REQUIRED' },
    history: [{ parts: [{ text: 'Hi' }] }],
  });
  const { configs } = (await rpc('ListTaskPushNotificationConfigs', { taskId: kept.id })).result;
  expect(configs).toMatchObject([{ url: 'https://example.com/hook' }]);
  const { result } = await rpc('SendMessage', { message: message('Ada', { taskId: kept.id }) });
  expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});
