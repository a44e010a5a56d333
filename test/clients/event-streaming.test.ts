import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

type Stream = ReturnType<Client['threads']['stream']>;
interface Told {
  readonly seq: number;
  readonly method: string;
  readonly params: { readonly namespace: string[]; readonly data: Record<string, unknown> };
}

const hello = { messages: [{ role: 'user', content: 'hello' }] };

async function all(events: AsyncIterable<unknown>): Promise<Told[]> {
  return (await Array.fromAsync(events)) as Told[];
}

describe.each(['sse', 'websocket'] as const)('event streaming of the SDK over %s', (transport) => {
  function stream(assistantId: string, thread_id: string = randomUUID()): Stream {
    return server.client.threads.stream(thread_id, { assistantId, transport });
  }

  test('values and output are the states of the run', async () => {
    await using thread = closing(stream('counter'));
    const values = Array.fromAsync(thread.values);
    await thread.run.start({ input: { count: 1 } });
    expect((await values).at(-1)).toEqual(await thread.output);
    expect(await thread.output).toMatchObject({ total: 1 });
  });

  test('messages are put together from their tokens', async () => {
    await using thread = closing(stream('tokens'));
    const messages = thread.messages;
    await thread.run.start({ input: { count: 5, token_ms: 0, messages: [] } });
    const texts: string[] = [];
    for await (const message of messages) texts.push(await message.text);
    expect(texts).toEqual(['t0 t1 t2 t3 t4 ']);
  });

  test('an interrupted graph continues with the answer', async () => {
    await using thread = closing(stream('interrupting'));
    const first = await thread.subscribe({ channels: ['input', 'lifecycle'] });
    await thread.run.start({ input: { x: 1 } });
    const asked = (await all(first)).map(({ method, params }) => [method, params.data['event']]);
    expect(asked.slice(-2)).toEqual([
      ['input.requested', undefined],
      ['lifecycle', 'interrupted'],
    ]);
    expect(thread.interrupted).toBe(true);
    const [interrupt] = thread.interrupts;
    expect(interrupt).toMatchObject({ payload: { question: 'ok?' }, namespace: [] });
    await thread.input.respond({
      namespace: [],
      interrupt_id: interrupt?.interruptId ?? '',
      response: 'yes',
    });
    const answered = await all(first);
    expect(answered.at(-1)?.params.data).toMatchObject({ event: 'completed' });
    const state = await server.client.threads.getState<{ log: string[] }>(thread.threadId);
    expect(state.values.log).toEqual(['a:1', 'b:"yes"']);
  });

  test('a strict answer to another interrupt fails the run with the refusal, and the interrupt still waits', async () => {
    await using thread = closing(stream('interrupting'));
    const events = await thread.subscribe({ channels: ['input', 'lifecycle'] });
    await thread.run.start({ input: { x: 1 } });
    await all(events);
    const pending_ids = thread.interrupts.map(({ interruptId }) => interruptId);
    const interrupt_id = 'f'.repeat(32);
    const failed = new Promise((resolve) => {
      thread.onEvent((event) => {
        const { method, params } = event as Told;
        if (method === 'lifecycle' && params.data['event'] === 'failed') resolve(params.data);
      });
    });
    await thread.respondInput({ namespace: [], interrupt_id, response: 'yes' }, { strictResume: true });
    expect(await failed).toMatchObject({
      event: 'failed',
      error: expect.any(String),
      reason: 'not_pending',
      interrupt_ids: [interrupt_id],
      pending_ids,
    });
    expect((await server.client.threads.get(thread.threadId)).status).toBe('interrupted');
    await expect(thread.respondInput({ namespace: [], interrupt_id, response: 'yes' })).rejects.toMatchObject(
      { code: 'no_such_interrupt' },
    );
  });

  test('an interrupt of a subgraph can be answered', async () => {
    await using thread = closing(stream('nested'));
    const events = await thread.subscribe({ channels: ['input', 'lifecycle'] });
    await thread.run.start({ input: { ask: true } });
    await all(events);
    const [interrupt] = thread.interrupts;
    expect(interrupt?.namespace).toEqual([expect.stringMatching(/^child:/)]);
    await thread.input.respond({
      namespace: interrupt?.namespace ?? [],
      interrupt_id: interrupt?.interruptId ?? '',
      response: 'me',
    });
    await all(events);
    const state = await server.client.threads.getState<{ log: string[] }>(thread.threadId);
    expect(state.values.log).toContain('child:"me"');
  });

  test('only subgraphs have a lifecycle, plain nodes do not', async () => {
    await using thread = closing(stream('three-levels'));
    const events = await thread.subscribe({ channels: ['lifecycle'] });
    await thread.run.start({ input: { path: [] } });
    const told = (await all(events)).map(({ params }) => [
      params.namespace.map((segment) => segment.split(':')[0]).join('/'),
      params.data['event'],
    ]);
    expect(told).toEqual([
      ['', 'running'],
      ['top_two', 'started'],
      ['top_two/middle_two', 'started'],
      ['top_two/middle_two', 'completed'],
      ['top_two', 'completed'],
      ['', 'completed'],
    ]);
    const { tree } = await thread.agent.getTree();
    expect(tree).toMatchObject({ graph_name: 'three-levels', status: 'completed' });
    expect(tree.children).toMatchObject([
      { graph_name: 'top_two', children: [{ graph_name: 'middle_two' }] },
    ]);
  });

  test('a failed run reports its error', async () => {
    await using thread = closing(stream('fails'));
    const events = await thread.subscribe({ channels: ['lifecycle'] });
    await thread.run.start({ input: { x: 1 } });
    expect((await all(events)).at(-1)?.params.data).toMatchObject({ event: 'failed', error: 'boom 1' });
  });

  test('several consecutive runs arrive on one stream', async () => {
    await using thread = closing(stream('chat'));
    const events = await thread.subscribe({ channels: ['values', 'lifecycle'] });
    await thread.run.start({ input: hello });
    const first = await all(events);
    await thread.run.start({ input: hello });
    const second = await all(events);
    expect(second[0]?.seq).toBeGreaterThan(first.at(-1)?.seq ?? Infinity);
    expect(second.at(-2)?.params.data['messages']).toHaveLength(4);
  });
});

test('the events of a thread can be replayed from any event on, also after a restart of the server', async () => {
  const thread_id = randomUUID();
  const before = server.client.threads.stream(thread_id, { assistantId: 'chat' });
  const sub = await before.subscribe({ channels: ['values', 'lifecycle', 'messages'] });
  await before.run.start({ input: hello });
  const told = await all(sub);
  await before.close();
  await server.kill('SIGKILL');
  await server.restart();
  const since = told[2]?.seq ?? 0;
  const response = await fetch(`${server.url}/threads/${thread_id}/stream/events`, {
    method: 'POST',
    body: JSON.stringify({ channels: ['values', 'lifecycle', 'messages'], since }),
  });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('"completed"')) break;
  }
  const replayed = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string) as Told);
  expect(replayed).toEqual(told.slice(3));
});

function closing(stream: Stream): Stream & AsyncDisposable {
  return Object.assign(stream, { [Symbol.asyncDispose]: () => stream.close() });
}
