import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['stateful-child'] });
afterAll(() => http[Symbol.asyncDispose]());

function run(at: string, call: object) {
  return http.post(`${at}/runs/wait`, { assistant_id: 'stateful-child', ...call });
}

const stateOf = (at: string, checkpoint_ns: string) =>
  http.post(`${at}/state/checkpoint`, { checkpoint: { checkpoint_ns } });

test('a subgraph with its own checkpointer remembers earlier runs', async () => {
  const at = `/threads/${await http.thread()}`;
  await run(at, { input: { said: 'one' } });
  expect((await run(at, { input: { said: 'two' } })).body.heard).toEqual(['one', 'two']);
  expect((await stateOf(at, 'child')).body.values.memory).toEqual(['one', 'two']);

  const waiting = await run(at, { input: { said: 'ask' } });
  expect(waiting.body.__interrupt__).toMatchObject([{ value: 'What?' }]);
  const [task] = (await http.get(`${at}/state?subgraphs=true`)).body.tasks;
  expect(task.state.values.memory).toEqual(['one', 'two']);
  expect((await run(at, { command: { resume: 'three' } })).body.heard).toEqual(['one', 'two', 'three']);
  // `children` has none.
  expect((await run(at, { input: { said: 'both' } })).body.heard).toEqual(['both']);
  expect((await stateOf(at, 'child')).body.values.memory).toEqual(['one', 'two', 'three', 'both']);
});

test('the state of a stateful subgraph can be updated by its namespace, and is copied with the thread', async () => {
  const thread_id = await http.thread();
  const at = `/threads/${thread_id}`;
  await run(at, { input: { said: 'one' } });
  const updated = await http.post(`${at}/state`, {
    values: { memory: ['from outside'] },
    checkpoint: { checkpoint_ns: 'child' },
  });
  expect(updated.status).toBe(200);
  expect(updated.body.checkpoint.checkpoint_ns).toBe('child');
  const copy = (await http.post(`${at}/copy`)).body;
  for (const each of [at, `/threads/${copy.thread_id}`]) {
    const { body } = await run(each, { input: { said: 'two' } });
    expect(body.heard).toEqual(['one', 'from outside', 'two']);
  }
});

test('subgraphs of an assistant are found by their exact namespace', async () => {
  const [{ assistant_id }] = (await http.post('/assistants/search', { graph_id: 'stateful-child' })).body;
  const names = async (namespace?: string) => {
    const place = namespace === undefined ? '' : `/${encodeURIComponent(namespace)}`;
    const { body } = await http.get(`/assistants/${assistant_id}/subgraphs${place}?recurse=true`);
    return Object.keys(body);
  };
  expect(await names('child')).toEqual(['child']);
  expect(await names('children')).toEqual(['children']);
  expect(await names('childr')).toEqual([]);
  expect(await names('child|hear')).toEqual([]);
  expect(await names()).toEqual(['child', 'children']);
});
