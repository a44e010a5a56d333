import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { receiver } from '../support/receiver.ts';
import { startServer } from '../support/server.ts';

const env = { LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false}}' };
/** On PostgreSQL another process could be sending what a dead one has claimed, until the lease of that one ends after 20 s. */
const LEASE_MS = 35_000;
const GRAPHS = { echo: 'test/fixtures/graphs/echo.ts:graph' };

test('a server that is killed before a webhook is sent sends it after its restart', async () => {
  await using server = await startServer({ graphs: GRAPHS, env });
  // The receiver is called, and the server is gone before it has said a word: the run's end is all that is left.
  const created = Promise.withResolvers<void>();
  let killed: Promise<unknown> | undefined;
  // It accepts connections and reads nothing from them.
  const sockets: Socket[] = [];
  const deaf = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket);
    killed ??= created.promise.then(() => server.kill('SIGKILL'));
  }).listen(0, '127.0.0.1');
  await once(deaf, 'listening');
  const { port } = deaf.address() as AddressInfo;
  const { run_id } = await server.client.runs.create(null, 'echo', {
    input: { x: 1 },
    webhook: `http://127.0.0.1:${port}/hook`,
  });
  created.resolve();
  await server.exited();
  await killed;
  for (const socket of sockets) socket.destroy();
  deaf.close();
  await once(deaf, 'close');

  await using hook = await receiver({ port });
  await server.restart();
  await hook.came(1, LEASE_MS);

  expect(hook.received).toMatchObject([{ path: '/hook', body: { run_id, status: 'success' } }]);
});

test('a server that is killed before it records a delivery sends it again with the same id', async () => {
  await using server = await startServer({ graphs: GRAPHS, env });
  await using hook = await receiver();
  const killed = Promise.withResolvers<void>();
  const created = Promise.withResolvers<void>();
  hook.answers.push(async (_request, response) => {
    // It has the webhook; that it was taken is never heard.
    await created.promise;
    await server.kill('SIGKILL');
    response.destroy();
    killed.resolve();
  });
  const { run_id } = await server.client.runs.create(null, 'echo', { input: { x: 1 }, webhook: hook.url });
  created.resolve();
  await killed.promise;
  await server.restart();
  await hook.came(2, LEASE_MS);

  expect(hook.received.map(({ body }) => body['run_id'])).toEqual([run_id, run_id]);
  const [first, again] = hook.received.map(({ headers }) => headers['webhook-id']);
  expect(again).toBe(first);
});

test('every run gets its webhook when the server is killed repeatedly', async () => {
  await using server = await startServer({ graphs: GRAPHS, env });
  await using hook = await receiver();
  const run_ids: string[] = [];
  for (let round = 0; round < 3; round++) {
    const runs = Array.from({ length: 20 }, () =>
      server.client.runs.create(null, 'echo', { input: { x: 1 }, webhook: hook.url }),
    );
    run_ids.push(...(await Promise.all(runs)).map(({ run_id }) => run_id));
    await hook.came(run_ids.length - 10);
    await server.kill('SIGKILL');
    await server.restart();
  }
  const notified = () => new Set(hook.received.map(({ body }) => body['run_id']));
  while (notified().size < run_ids.length) await hook.came(hook.received.length + 1, LEASE_MS);

  expect([...notified()].sort()).toEqual(run_ids.sort());
  const ids = Map.groupBy(hook.received, ({ body }) => body['run_id']);
  for (const times of ids.values())
    expect(new Set(times.map(({ headers }) => headers['webhook-id']))).toHaveProperty('size', 1);
});
