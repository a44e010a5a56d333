import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['echo', 'interrupting'] });
afterAll(() => http[Symbol.asyncDispose]());

const STEPS = [
  { updates: [{ values: { x: 1 }, as_node: '__start__' }] },
  { updates: [{ values: { log: ['a:1'] }, as_node: 'a' }] },
];

test('a thread created with supersteps has their history and continues from it', async () => {
  const created = await http.post('/threads', { metadata: { graph_id: 'echo' }, supersteps: STEPS });
  expect([created.status, created.body]).toEqual([
    200,
    expect.objectContaining({ status: 'interrupted', values: { x: 1, log: ['a:1'] } }),
  ]);
  const at = `/threads/${created.body.thread_id}`;
  expect((await http.get(`${at}/state`)).body.next).toEqual(['b']);
  expect((await http.post(`${at}/history`, { limit: 10 })).body).toHaveLength(2);
  const { body } = await http.post(`${at}/runs/wait`, { assistant_id: 'echo', input: null });
  expect(body).toEqual({ x: 1, log: ['a:1', 'b'] });
});

test('a superstep may contain a command', async () => {
  const command = { update: { x: 3 } };
  const { body } = await http.post('/threads', {
    metadata: { graph_id: 'echo' },
    supersteps: [{ updates: [{ command, as_node: 'a' }] }],
  });
  expect(body.values).toMatchObject({ x: 3 });
});

test('supersteps without a known graph create the thread, and the error says why it has no history', async () => {
  for (const metadata of [{}, { graph_id: 'nobody' }]) {
    const thread_id = crypto.randomUUID();
    const answer = await http.post('/threads', { thread_id, metadata, supersteps: STEPS });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        detail: expect.stringContaining(
          `Thread ${thread_id} was created, but there were problems updating the state: `,
        ),
      },
    ]);
    expect((await http.get(`/threads/${thread_id}`)).body.status).toBe('idle');
  }
});

test('supersteps with an unknown node create the thread and report the error', async () => {
  const thread_id = crypto.randomUUID();
  const answer = await http.post('/threads', {
    thread_id,
    metadata: { graph_id: 'echo' },
    supersteps: [{ updates: [{ values: { x: 1 }, as_node: 'nobody' }] }],
  });
  expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('nobody')]);
  expect((await http.get(`/threads/${thread_id}`)).status).toBe(200);
});

test('supersteps for an existing thread leave its history unchanged', async () => {
  const thread_id = await http.thread();
  const answer = await http.post('/threads', { thread_id, if_exists: 'do_nothing', supersteps: STEPS });
  expect([answer.status, answer.body.values]).toEqual([200, null]);
  const wrong = { metadata: { graph_id: 'echo' }, supersteps: [{ updates: [] }] };
  expect((await http.post('/threads', wrong)).status).toBe(422);
});

/** The node of the last superstep does not exist: the ones before it remain. */
const HALF = [...STEPS, { updates: [{ values: {}, as_node: 'nobody' }] }];

async function halfImported() {
  const thread_id = crypto.randomUUID();
  const metadata = { graph_id: 'echo' };
  expect((await http.post('/threads', { thread_id, metadata, supersteps: HALF })).status).toBe(400);
  const again = (more: object) => http.post('/threads', { thread_id, metadata, ...more });
  return { at: `/threads/${thread_id}`, again };
}

test('nothing begins on a thread whose import was interrupted', async () => {
  const { at, again } = await halfImported();
  const run = { assistant_id: 'echo', input: { x: 2 } };
  const refused = [
    await http.post(`${at}/runs`, run),
    await http.post(`${at}/runs/wait`, { ...run, if_not_exists: 'create' }),
    await http.post(`${at}/state`, { values: { x: 2 }, as_node: 'a' }),
    await http.post(`${at}/copy`),
    await again({}),
    await again({ supersteps: STEPS }),
    await again({ if_exists: 'do_nothing' }),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 409));
  expect((await http.get(`${at}/runs`)).body).toEqual([]);
  expect((await http.get(`${at}/explain`)).body.summary).toContain('import');
});

test('an interrupted import starts anew when it is sent again', async () => {
  const { at, again } = await halfImported();
  const answer = await again({ supersteps: STEPS, if_exists: 'do_nothing' });
  expect([answer.status, answer.body.values]).toEqual([200, { x: 1, log: ['a:1'] }]);
  expect((await http.post(`${at}/history`, { limit: 10 })).body).toHaveLength(2);
  const { body } = await http.post(`${at}/runs/wait`, { assistant_id: 'echo', input: null });
  expect(body).toEqual({ x: 1, log: ['a:1', 'b'] });
  // Complete: the next repetition finds it as it is.
  expect((await again({ supersteps: STEPS, if_exists: 'do_nothing' })).body.values).toEqual(body);
});

test('a thread whose import was interrupted can be deleted and created again', async () => {
  const { at, again } = await halfImported();
  expect((await http.delete(at)).status).toBe(204);
  expect((await again({ supersteps: STEPS })).status).toBe(200);
});
