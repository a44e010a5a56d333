import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Actor, systemActor } from '../../src/auth/actor.ts';
import { Unavailable } from '../../src/core/errors.ts';
import { handleInProcess } from '../../src/http/in-process.ts';
import { rejectWhileDraining } from '../../src/services/runs/submit.ts';
import { bareServer } from '../support/bare-server.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

test("only calls of the project's code to its own server are handled in process", async () => {
  const actors: Actor[] = [];
  const count = async (actor: Actor) => actors.push(actor);
  await using http = await bareServer({ services: { threads: { count } } });
  const url = `${await http.listen()}/threads/count`;
  const asked = () => new Request(url, { method: 'POST', body: '{}' });
  expect((await handleInProcess(http.server, asked())).status).toBe(200);
  expect((await fetch(asked())).status).toBe(200);
  expect(actors.map(({ is_internal }) => is_internal)).toEqual([true, undefined]);
});

test('while the server stops, an executing run may create another run', () => {
  const draining = AbortSignal.abort();
  const outside = systemActor('one');
  expect(() => rejectWhileDraining({ draining }, outside)).toThrow(Unavailable);
  rejectWhileDraining({ draining }, { ...outside, is_internal: true });
  rejectWhileDraining({ draining: new AbortController().signal }, outside);
});

test('in the grace period the server accepts runs from its own graphs and rejects those from outside', async () => {
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
  const refused = await ask();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await writeFile(gate, '');
  expect(await ended).toBe(0);

  await server.restart();
  const { values } = await client.threads.getState<{ run_id: string }>(thread_id);
  expect(await client.runs.join(other.thread_id, values.run_id)).toEqual({ x: 1, log: ['a:1', 'b'] });
  expect(await client.runs.list(other.thread_id)).toHaveLength(1);
});
