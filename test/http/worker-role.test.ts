import { expect, test } from 'vitest';
import { handleInProcess } from '../../src/http/in-process.ts';
import { openApp } from '../support/app.ts';

test('a worker process serves only health and metrics over the network', async () => {
  await using server = await openApp({ graphs: ['echo'], server: { role: 'worker' } });
  for (const path of ['/ok', '/ok?live=1', '/info', '/metrics']) {
    expect([path, (await server.get(path)).status]).toEqual([path, 200]);
  }
  for (const path of ['/docs', '/openapi.json', '/assistants/echo', '/threads/x', '/nothing']) {
    expect([path, (await server.get(path)).status]).toEqual([path, 404]);
  }
  const refused = await server.post('/runs/wait', { assistant_id: 'echo', input: {} });
  expect(refused.status).toBe(404);
  expect(refused.body.detail).toContain('server.role');
});

test('graphs in a worker process can call its API in process', async () => {
  await using server = await openApp({ graphs: ['echo'], server: { role: 'worker' } });
  const request = new Request('http://localhost/assistants/search', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const answer = await handleInProcess(server.app.server, request);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject([{ graph_id: 'echo' }]);
});

test('an API process accepts runs and executes none', async () => {
  await using server = await openApp({ graphs: ['echo'], server: { role: 'api' } });
  const thread_id = await server.thread();
  const run = await server.post(`/threads/${thread_id}/runs`, { assistant_id: 'echo', input: {} });
  expect(run.status).toBe(200);
  const { body } = await server.get('/metrics?format=json');
  expect(body.workers).toEqual({ max: 0, active: 0, available: 0 });
  expect((await server.get(`/threads/${thread_id}/runs/${run.body.run_id}`)).body.status).toBe('pending');
});
