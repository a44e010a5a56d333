import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamMode } from '../../src/schemas/stream-mode.ts';
import { openApp } from '../support/app.ts';
import { expectClean, expectNoSecret } from '../support/failure-texts.ts';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { FOLDER, LEFT, PASSWORD } from '../support/leaky-error.ts';
import { type Receiver, receiver, TO_RECEIVER } from '../support/receiver.ts';
import { JSON_LINES, READABLE, writtenLine } from '../support/written-line.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let http: HttpClient;
let hook: Receiver;
beforeAll(async () => {
  hook = await receiver();
  const folder = resolve(import.meta.dirname, '../fixtures/throws');
  const graphs = ['leaks', 'refuses', 'unmade'];
  server = await openApp({ graphs, folder, environment: TO_RECEIVER });
  http = httpClient((await server.app.listen()).url);
});
afterAll(async () => {
  http[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

const INPUT = { messages: [{ role: 'user', content: 'hello' }] };
const RUN = { assistant_id: 'leaks', input: INPUT };

describe('the error of a node is reported without secrets', () => {
  test('by a run, its thread, their states and their explanations', async () => {
    const thread_id = await server.thread();
    const at = `/threads/${thread_id}`;
    expectClean((await server.post(`${at}/runs/wait`, RUN)).body);
    const [run] = (await server.get(`${at}/runs`)).body;
    expectClean((await server.get(`${at}/runs/${run.run_id}/join`)).body);
    expectClean((await server.get(`${at}/runs/${run.run_id}/explain`)).body);
    expectClean((await server.get(at)).body);
    expectClean((await server.post('/threads/search', { ids: [thread_id] })).body);
    expectClean((await server.get(`${at}/state`)).body);
    expectClean((await server.get(`${at}/state?subgraphs=true`)).body);
    expectClean((await server.get(`${at}/history`)).body);
    expectClean((await server.post(`${at}/history`, { limit: 10 })).body);
    const { tasks } = (await server.get(`${at}/state?subgraphs=true`)).body;
    expect(tasks[0].error).toBe(`LeakyError: ${LEFT}`);
    expectNoSecret(JSON.stringify((await server.get(`${at}/runs/${run.run_id}`)).body));
  });

  test.each(StreamMode.options)('by stream mode %s, including that of the next run', async (mode) => {
    const at = `/threads/${await server.thread()}`;
    const body = { ...RUN, stream_mode: mode, stream_subgraphs: true, stream_resumable: true };
    const first = await server.post(`${at}/runs/stream`, body);
    expectClean(first.text);
    // Its first checkpoint holds the failure of the run before.
    expectClean((await server.post(`${at}/runs/stream`, { ...body, input: null })).text);
    const location = String(first.headers['content-location']);
    expectClean((await server.get(`${location}/stream`, { 'last-event-id': '-1' })).text);
  });

  test('in the result of each failed task, and in the message of its tool', async () => {
    const body = { ...RUN, stream_mode: ['tasks', 'debug', 'tools', 'events'], stream_subgraphs: true };
    const { text } = await server.post('/runs/stream', body);
    for (const event of ['tasks', 'tasks|inner', 'debug', 'debug|inner', 'tools|inner']) {
      const name = `^event: ${escaped(event)}${event.includes('|') ? '[^\\n]*' : ''}`;
      const told = new RegExp(`${name}\r\ndata: .*"error":.*${escaped(LEFT)}`, 'gm');
      expect([event, text.match(told)?.length]).toEqual([event, 1]);
    }
    expect(text).toContain(`"event":"on_tool_error"`);
    // A stack is nobody's business either.
    expect(text).not.toContain('leaks.ts');
  });

  test('in the checkpoint that the next run of the thread begins with', async () => {
    const at = `/threads/${await server.thread()}/runs`;
    await server.post(`${at}/wait`, RUN);
    const stream_mode = ['checkpoints', 'debug'];
    const { text } = await server.post(`${at}/stream`, { assistant_id: 'leaks', input: null, stream_mode });
    expect(text.split(`"error":{"message":"${LEFT}","name":"LeakyError"}`)).toHaveLength(3);
    expectClean(text);
  });

  test('by event streaming', async () => {
    const thread_id = randomUUID();
    const channels = ['values', 'updates', 'tools', 'lifecycle', 'tasks', 'checkpoints', 'messages'];
    const path = `/threads/${thread_id}/stream/events`;
    const { events } = await http.stream('POST', path, { body: { channels } });
    const command = (method: string, params: object) =>
      server.post(`/threads/${thread_id}/commands`, { id: 1, method, params });
    await command('run.start', { assistant_id: 'leaks', input: INPUT });
    let told = '';
    for await (const { event, data } of events) {
      told += `${event} ${data}\n`;
      if (event === 'lifecycle' && data.includes('"failed"') && data.includes('"namespace":[]')) break;
    }
    expectClean(told);
    expect(told).toContain(`"event":"tool-error","tool_call_id":"","message":"${LEFT}"`);
    expectNoSecret((await command('state.get', {})).text);
    expectNoSecret((await command('agent.getTree', {})).text);
  });

  test('by a webhook', async () => {
    const before = hook.received.length;
    await server.post('/runs/wait', { ...RUN, webhook: `${hook.url}/told` });
    await hook.came(before + 1);
    expectClean(hook.received.at(-1)?.text);
  });
});

test('the error of a reducer or a factory is reported without secrets', async () => {
  const at = `/threads/${await server.thread()}`;
  await server.post(`${at}/runs/wait`, { assistant_id: 'refuses', input: { kept: 'x' } });
  const refused = await server.post(`${at}/state`, { values: { kept: 1 } });
  expect(refused.status).toBe(400);
  expectClean(refused.body);
  expectClean((await server.post('/runs/wait', { assistant_id: 'unmade', input: {} })).body);
  const unmade = await server.get('/assistants/unmade/schemas');
  expect(unmade.status).toBe(422);
  expectNoSecret(JSON.stringify(unmade.body));
});

test('a state that resembles an error is returned unchanged', async () => {
  const at = `/threads/${await server.thread()}`;
  const kept = `postgres://joe:${PASSWORD}@db.internal/x in ${FOLDER}/places.ts`;
  const { body } = await server.post(`${at}/runs/wait`, { assistant_id: 'refuses', input: { kept } });
  expect(body).toEqual({ kept });
  expect((await server.get(`${at}/state`)).body.values).toEqual({ kept });
});

test('no log line contains the secret, and each failure names where it was thrown', async () => {
  const failed = server.log.filter(({ message }) => message === 'run failed');
  expect(failed.length).toBeGreaterThan(10);
  for (const line of server.log) {
    for (const format of [JSON_LINES, READABLE]) expectNoSecret(await writtenLine(format, line));
  }
  const first = await writtenLine(JSON_LINES, failed[0] as (typeof failed)[0]);
  expect(first).toMatch(/LeakyError: nothing at .*leaks\.ts:\d+/);
});

function escaped(text: string): string {
  return text.replace(/[/.*?|]/g, '\\$&');
}
