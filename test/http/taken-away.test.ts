import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

const http = await openApp({ graphs: ['sleeper', 'interrupting', 'echo'] });
afterAll(() => http[Symbol.asyncDispose]());

/** A run that sleeps in its node on a thread of its own. */
async function sleeping(assistant_id: string) {
  const at = `/threads/${await http.thread()}`;
  const { body } = await http.post(`${at}/runs`, { assistant_id, input: { ms: 60_000 }, durability: 'sync' });
  await until('it sleeps', async () => (await http.get(`${at}/state`)).body.next[0] === 'rest');
  return { at, run: `${at}/runs/${body.run_id}` };
}

test('a thread keeps the state of a run whose assistant is deleted', async () => {
  const { body: assistant } = await http.post('/assistants', { graph_id: 'sleeper' });
  const { at, run } = await sleeping(assistant.assistant_id);
  expect((await http.delete(`/assistants/${assistant.assistant_id}`)).status).toBe(204);
  expect((await http.get(run)).status).toBe(404);
  const { next, values } = (await http.get(`${at}/state`)).body;
  expect(next).toEqual(['rest']);
  expect((await http.get(at)).body).toMatchObject({ status: 'interrupted', values });
});

test('a thread of a deleted executing run has the status from before it', async () => {
  const { at, run } = await sleeping('sleeper');
  expect((await http.get(at)).body.status).toBe('busy');
  expect((await http.delete(run)).status).toBe(204);
  expect((await http.get(`${at}/state`)).body.next).toEqual([]);
  expect((await http.get(at)).body.status).toBe('idle');
});

test('the interrupt of a deleted run is no longer on its thread', async () => {
  const at = `/threads/${await http.thread()}`;
  await http.post(`${at}/runs/wait`, { assistant_id: 'echo', input: { x: 1 } });
  const { headers } = await http.post(`${at}/runs/wait`, { assistant_id: 'interrupting', input: { x: 2 } });
  expect((await http.get(at)).body).toMatchObject({ status: 'interrupted' });
  await http.delete(String(headers['content-location']));
  expect((await http.get(at)).body).toMatchObject({ status: 'idle', interrupts: {} });
});

test('deleting one of two runs leaves their thread busy', async () => {
  const { at, run } = await sleeping('sleeper');
  const waiting = { assistant_id: 'echo', input: { x: 1 }, after_seconds: 600 };
  await http.post(`${at}/runs`, waiting);
  await http.delete(run);
  expect((await http.get(at)).body.status).toBe('busy');
});
