import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { handleInProcess } from '../../src/http/in-process.ts';
import { bareServer } from '../support/bare-server.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

test("calls of the project's code to its own server need no connection", async () => {
  await using http = await bareServer({ services: { threads: { count: async () => 7 } } });
  const url = `${await http.listen()}/threads/count`;
  let connections = 0;
  http.server.server.on('connection', () => connections++);
  const asked = () => new Request(url, { method: 'POST', body: '{}' });
  expect(await (await handleInProcess(http.server, asked())).json()).toBe(7);
  expect(connections).toBe(0);
  expect(await (await fetch(asked())).json()).toBe(7);
  expect(connections).toBe(1);
});

test('during the grace period, runs that a client or a graph creates wait for the next start', async () => {
  await using server = await startServer({
    graphs: {
      'asks-its-server': 'test/fixtures/graphs/asks-its-server.ts:graph',
      echo: 'test/fixtures/graphs/echo.ts:graph',
    },
    env: { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '20' },
  });
  const { client, url } = server;
  const [{ thread_id }, other] = await Promise.all([client.threads.create(), client.threads.create()]);
  const gate = `${server.database}.gate`;
  const input = { gate, thread_id: other.thread_id };
  const asking = await client.runs.create(thread_id, 'asks-its-server', { input });
  await until(
    'the graph executes',
    async () => (await client.runs.get(thread_id, asking.run_id)).status === 'running',
  );

  const ended = server.kill('SIGTERM');
  const ask = () => {
    const body = JSON.stringify({ assistant_id: 'echo', input: { x: 2 } });
    return fetch(`${url}/threads/${other.thread_id}/runs`, { method: 'POST', body });
  };
  await until('the server stops', async () => (await fetch(`${url}/ok`)).status === 503);
  const accepted = (await (await ask()).json()) as { run_id: string; status: string };
  expect(accepted.status).toBe('pending');
  await writeFile(gate, '');
  expect(await ended).toBe(0);

  await server.restart();
  const { values } = await client.threads.getState<{ run_id: string }>(thread_id);
  for (const run_id of [values.run_id, accepted.run_id]) {
    await client.runs.join(other.thread_id, run_id);
    expect(await client.runs.get(other.thread_id, run_id)).toMatchObject({ status: 'success' });
  }
  expect(await client.runs.list(other.thread_id)).toHaveLength(2);
});
