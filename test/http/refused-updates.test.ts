import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const server = await openApp({ graphs: ['chat', 'echo', 'interrupting'] });
afterAll(() => server[Symbol.asyncDispose]());

/** What reducers refuse, and what the graph takes. */
const REFUSED = {
  chat: { bad: { messages: [{ role: 'moderator', content: 'Hi' }] }, good: { messages: 'Hi' } },
  echo: { bad: { log: 1 }, good: { x: 1 } },
};

async function run(thread_id: string, assistant_id: string, what: object): Promise<boolean> {
  const { body } = await server.post(`/threads/${thread_id}/runs/wait`, { assistant_id, ...what });
  return body['__error__'] === undefined;
}

async function isReadable(thread_id: string): Promise<void> {
  const path = `/threads/${thread_id}`;
  for (const url of [path, `${path}/state`, `${path}/state?subgraphs=true`, `${path}/history`]) {
    expect([url, (await server.get(url)).status]).toEqual([url, 200]);
  }
}

for (const [graph, { bad, good }] of Object.entries(REFUSED)) {
  test(`a thread of ${graph} stays usable after an input that a reducer refuses`, async () => {
    for (const durability of ['async', 'sync', 'exit']) {
      const thread_id = await server.thread();
      expect(await run(thread_id, graph, { input: bad, durability })).toBe(false);
      await isReadable(thread_id);
      expect(await run(thread_id, graph, { input: good })).toBe(true);
      expect(await run(thread_id, graph, { input: bad, durability })).toBe(false);
      await isReadable(thread_id);
      expect(await run(thread_id, graph, { input: good })).toBe(true);
    }
  });

  test(`a thread of ${graph} stays usable after a command update that a reducer refuses`, async () => {
    for (const durability of ['async', 'sync', 'exit']) {
      const thread_id = await server.thread();
      expect(await run(thread_id, graph, { input: good })).toBe(true);
      expect(await run(thread_id, graph, { command: { update: bad }, durability })).toBe(false);
      await isReadable(thread_id);
      expect(await run(thread_id, graph, { input: good })).toBe(true);
      await isReadable(thread_id);
    }
  });
}

test('an answer whose state update is refused can be given again', async () => {
  const thread_id = await server.thread();
  await run(thread_id, 'interrupting', { input: { x: 1 } });
  const command = { resume: 'yes', update: { log: 1 } };
  expect(await run(thread_id, 'interrupting', { command })).toBe(false);
  await isReadable(thread_id);
  expect(await run(thread_id, 'interrupting', { command: { ...command, update: { log: ['u'] } } })).toBe(
    true,
  );
  const { values, next } = (await server.get(`/threads/${thread_id}/state`)).body;
  expect([values, next]).toEqual([{ x: 1, log: ['a:1', 'u', 'b:"yes"'] }, []]);
});

test('an accepted state update is kept when the run stops at the next interrupt', async () => {
  for (const durability of ['async', 'sync']) {
    const thread_id = await server.thread();
    await run(thread_id, 'interrupting', { input: { x: 1 } });
    const command = { goto: 'before', update: { log: ['u'] } };
    expect(await run(thread_id, 'interrupting', { command, durability })).toBe(true);
    const { log } = (await server.get(`/threads/${thread_id}/state`)).body.values;
    expect([durability, log]).toEqual([durability, ['a:1', 'u', 'a:1']]);
    expect(await run(thread_id, 'interrupting', { command: { resume: 'yes' } })).toBe(true);
  }
});

test('metadata that resembles a LangChain object breaks no thread', async () => {
  const thread_id = await server.thread();
  const odd = { lc: 1, type: 'constructor', id: ['langchain', 'llms', 'OpenAI'], kwargs: {} };
  expect(await run(thread_id, 'echo', { input: { x: 1 }, metadata: { odd } })).toBe(true);
  await isReadable(thread_id);
  expect((await server.get(`/threads/${thread_id}/state`)).body.metadata.odd).toEqual(odd);
  expect(await run(thread_id, 'echo', { input: { x: 2 } })).toBe(true);
});

test.each([
  ['in a message', (odd: object) => [{ role: 'user', content: [{ type: 'text', text: 'a', odd }] }]],
  ['beside a message', (odd: object) => [{ role: 'user', content: 'a', additional_kwargs: { odd } }]],
])(
  'an object that only resembles one of LangChain fails its run and breaks no thread: %s',
  async (_where, made) => {
    const odd = { lc: 1, type: 'constructor', id: ['langchain', 'llms', 'OpenAI'], kwargs: { apiKey: 'x' } };
    const thread_id = await server.thread();
    const good = { input: { messages: [{ role: 'user', content: 'hello' }] } };
    expect(await run(thread_id, 'chat', good)).toBe(true);
    const { messages } = (await server.get(`/threads/${thread_id}/state`)).body.values;

    expect(await run(thread_id, 'chat', { input: { messages: made(odd) } })).toBe(false);

    await isReadable(thread_id);
    expect((await server.get(`/threads/${thread_id}/state`)).body.values.messages).toEqual(messages);
    expect(await run(thread_id, 'chat', good)).toBe(true);
  },
);
