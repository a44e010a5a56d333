import { expect, test } from 'vitest';
import { message, type Rpc, rpcTo } from '../../support/a2a.ts';
import { receiver } from '../../support/receiver.ts';
import { startServer, type TestServer } from '../../support/server.ts';

const env = { LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false}}' };
const GRAPHS = {
  sleeper: 'test/fixtures/graphs/sleeper.ts:graph',
  'chat-question': 'test/fixtures/graphs/chat-question.ts:graph',
};

function agent(server: TestServer, graph: string) {
  return rpcTo(
    {
      async post(path: string, payload: unknown) {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify(payload);
        const answer = await fetch(server.url + path, { method: 'POST', headers, body });
        return { body: (await answer.json()) as Awaited<ReturnType<Rpc>> };
      },
    },
    graph,
  );
}

function told(body: Record<string, unknown>): { id: string; state: string } {
  const { id, status } = body['task'] as { id: string; status: { state: string } };
  return { id, state: status.state };
}

test('subscribers are notified of the end of a task after the killed server restarts', async () => {
  await using server = await startServer({ graphs: GRAPHS, env });
  await using hook = await receiver();
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } };
  const sent = await agent(server, 'sleeper')('SendMessage', {
    message: message({ ms: 300 }),
    configuration,
  });
  await server.kill('SIGKILL');
  await server.restart();
  await hook.came(1);
  expect(told(hook.received[0]?.body ?? {})).toEqual({
    id: sent.result.task.id,
    state: 'TASK_STATE_COMPLETED',
  });
});

test('no question is lost when the server is killed repeatedly', async () => {
  await using server = await startServer({ graphs: GRAPHS, env });
  await using hook = await receiver();
  const rpc = agent(server, 'chat-question');
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } };
  const ids: string[] = [];
  for (let round = 0; round < 3; round++) {
    const sent = await Promise.all(
      Array.from({ length: 12 }, () => rpc('SendMessage', { message: message('Hi'), configuration })),
    );
    ids.push(...sent.map(({ result }) => result.task.id));
    // Some have asked and told, some have asked, and some have not begun.
    await hook.came(ids.length - 10);
    await server.kill('SIGKILL');
    await server.restart();
  }
  const asked = () => new Set(hook.received.map(({ body }) => told(body).id));
  while (asked().size < ids.length) await hook.came(hook.received.length + 1);
  expect([...asked()].sort()).toEqual(ids.sort());
  for (const { body } of hook.received) expect(told(body).state).toBe('TASK_STATE_INPUT_REQUIRED');
});
