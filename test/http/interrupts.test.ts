import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

type Server = Awaited<ReturnType<typeof openApp>>;

/** The id of a thread on which a graph has stopped to ask. */
async function asking(server: Server, metadata: object, headers?: Record<string, string>): Promise<string> {
  const { thread_id } = (await server.post('/threads', { metadata }, headers)).body;
  const run = { assistant_id: 'interrupting', input: { x: 1 } };
  await server.post(`/threads/${thread_id}/runs/wait`, run, headers);
  return thread_id;
}

const threadsOf = (found: { thread_id: string }[]) => found.map(({ thread_id }) => thread_id);

test('interrupts are listed across threads and answered by id', async () => {
  await using server = await openApp({ graphs: ['parallel-send'] });
  const { thread_id } = (await server.post('/threads', { metadata: { team: 'red' } })).body;
  const run = { assistant_id: 'parallel-send', input: { items: [2, 3], ask: true } };
  await server.post(`/threads/${thread_id}/runs/wait`, run);
  const [{ run_id, assistant_id }] = (await server.get(`/threads/${thread_id}/runs`)).body;

  const waiting = await server.post('/interrupts/search', {});
  expect(waiting.body).toHaveLength(2);
  const asked = waiting.body.find(({ value }: { value: unknown }) => JSON.stringify(value).includes('3'));
  expect(asked).toEqual({
    interrupt_id: expect.any(String),
    thread_id,
    task_id: expect.any(String),
    run_id,
    assistant_id,
    since: expect.any(String),
    value: { factor_for: 3 },
    value_bytes: 16,
  });
  expect((await server.post('/interrupts/count', {})).body).toBe(2);

  // One by one, through the ordinary run API.
  const answer = async ({ interrupt_id }: { interrupt_id: string }, factor: number) =>
    server.post(`/threads/${thread_id}/runs/wait`, {
      assistant_id: 'parallel-send',
      command: { resume: { [interrupt_id]: factor } },
    });
  await answer(asked, 10);
  const left = await server.post('/interrupts/search', { select: ['interrupt_id', 'value'] });
  expect(left.body).toEqual([{ interrupt_id: expect.any(String), value: { factor_for: 2 } }]);
  expect((await answer(left.body[0], 1)).body.squares).toEqual([4, 90]);
  expect((await server.post('/interrupts/search', {})).body).toEqual([]);
  expect((await server.post('/interrupts/count', {})).body).toBe(0);
});

test('interrupts are searched by thread and assistant, newest or oldest first, in pages', async () => {
  await using server = await openApp({ graphs: ['interrupting', 'parallel-send', 'echo'] });
  const many = { assistant_id: 'parallel-send', input: { items: [1, 2, 3], ask: true } };
  const first = await asking(server, { n: 1 });
  const second = await server.thread({ metadata: { n: 2 } });
  await server.post(`/threads/${second}/runs/wait`, many);
  const third = await asking(server, { n: 3 });
  await server.post('/runs/wait', { assistant_id: 'echo', input: {}, on_completion: 'keep' });

  const found = async (query: object) => threadsOf((await server.post('/interrupts/search', query)).body);
  expect(await found({})).toEqual([third, second, second, second, first]);
  expect(await found({ sort_order: 'asc' })).toEqual([first, second, second, second, third]);
  expect(await found({ thread_metadata: { n: 3 } })).toEqual([third]);
  expect(await found({ assistant_id: 'interrupting' })).toEqual([third, first]);
  expect(await found({ assistant_id: 'echo' })).toEqual([]);
  expect((await server.post('/interrupts/count', { assistant_id: 'parallel-send' })).body).toBe(3);
  expect((await server.post('/interrupts/count', { thread_metadata: { n: 1 } })).body).toBe(1);

  for (const sort_order of ['desc', 'asc']) {
    const ids: string[] = [];
    let cursor: unknown;
    do {
      const page = await server.post('/interrupts/search', { limit: 2, sort_order, cursor });
      ids.push(...page.body.map(({ interrupt_id }: { interrupt_id: string }) => interrupt_id));
      cursor = page.headers['x-pagination-next'];
      if (sort_order === 'desc') await asking(server, {});
    } while (cursor);
    // Newer ones are before the first page; with the oldest first they follow.
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(sort_order === 'desc' ? 5 : 8);
  }
});

test('interrupts are found by the time since when they have waited', async () => {
  await using server = await openApp({ graphs: ['interrupting'] });
  const [first, second, third] = [
    await asking(server, {}),
    await asking(server, {}),
    await asking(server, {}),
  ];
  const waiting = (await server.post('/interrupts/search', { sort_order: 'asc' })).body;
  expect(threadsOf(waiting)).toEqual([first, second, third]);
  const since = waiting[1].since;
  const expected: [query: object, found: string[]][] = [
    [{ since_from: since }, [second, third]],
    [{ since_to: since }, [first]],
    [{ since_from: since, since_to: waiting[2].since }, [second]],
    [{ since_to: since.replace('Z', '+00:00') }, [first]],
    [{ since_to: '0001-01-01T00:00:00Z' }, []],
  ];
  for (const [query, found] of expected) {
    const searched = await server.post('/interrupts/search', { ...query, sort_order: 'asc', limit: 1 });
    expect([query, threadsOf(searched.body)]).toEqual([query, found.slice(0, 1)]);
    expect([query, (await server.post('/interrupts/count', query)).body]).toEqual([query, found.length]);
  }
});

test('interrupts are found by the deadline in their value, which is returned in UTC', async () => {
  await using server = await openApp({ graphs: ['asks'] });
  const ask = async (value: unknown) => {
    const { thread_id } = (await server.post('/threads', {})).body;
    await server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'asks', input: { ask: value } });
    return thread_id as string;
  };
  const early = await ask({ question: 'early?', deadline: '2026-03-01T09:00:00+01:00' });
  const late = await ask({ deadline: '2026-03-01T08:30:00Z', text: 'x'.repeat(40_000) });
  for (const value of [
    '"deadline"',
    { deadline: 'tomorrow' },
    { deadline: 7 },
    [{ deadline: '2026-03-01T08:00:00Z' }],
  ])
    await ask(value);

  const found = await server.post('/interrupts/search', {
    deadline_from: '2026-01-01T00:00:00Z',
    sort_order: 'asc',
  });
  expect(found.body).toMatchObject([
    { thread_id: early, deadline: '2026-03-01T08:00:00.000Z', value: { question: 'early?' } },
    { thread_id: late, deadline: '2026-03-01T08:30:00.000Z', value_bytes: expect.any(Number) },
  ]);
  const all = await server.post('/interrupts/search', {});
  expect(all.body.filter((each: object) => 'deadline' in each)).toHaveLength(2);
  const expected: [query: object, found: string[]][] = [
    [{ deadline_to: '2026-03-01T08:30:00Z' }, [early]],
    [{ deadline_from: '2026-03-01T08:30:00Z' }, [late]],
    [{ deadline_from: '2026-03-01T08:00:00Z', deadline_to: '2026-03-01T09:31:00+01:00' }, [late, early]],
    [{ deadline_to: '2026-03-01T08:00:00Z' }, []],
  ];
  for (const [query, threads] of expected) {
    expect([query, threadsOf((await server.post('/interrupts/search', query)).body)]).toEqual([
      query,
      threads,
    ]);
    expect([query, (await server.post('/interrupts/count', query)).body]).toEqual([query, threads.length]);
  }
});

test('interrupts of a thread with a queued run are not listed', async () => {
  await using server = await openApp({ graphs: ['interrupting'] });
  const thread_id = await asking(server, {});
  const later = { assistant_id: 'interrupting', command: { resume: 'yes' }, after_seconds: 1000 };
  const { run_id } = (await server.post(`/threads/${thread_id}/runs`, later)).body;
  expect((await server.post('/interrupts/search', {})).body).toEqual([]);
  await server.post(`/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
  expect((await server.post('/interrupts/search', {})).body).toMatchObject([{ thread_id }]);
});

test('a run that is cancelled before it begins is not the one that asks', async () => {
  await using server = await openApp({ graphs: ['interrupting', 'echo'] });
  const thread_id = await asking(server, {});
  const [asked] = (await server.get(`/threads/${thread_id}/runs`)).body;
  const later = { assistant_id: 'echo', command: { resume: 'yes' }, after_seconds: 1000 };
  const { run_id } = (await server.post(`/threads/${thread_id}/runs`, later)).body;
  await server.post(`/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
  const { assistant_id } = asked;
  expect((await server.post('/interrupts/search', {})).body).toMatchObject([
    { thread_id, run_id: asked.run_id, assistant_id },
  ]);
  const waiting = (await server.post('/runs/search', { waiting: true })).body;
  expect(waiting).toMatchObject([{ run_id: asked.run_id, waiting: true }]);
});

test('a node that interrupts again after an answer is listed again', async () => {
  await using server = await openApp({ graphs: ['questions'] });
  const thread_id = await server.thread();
  const run = { assistant_id: 'questions', input: { messages: [] } };
  await server.post(`/threads/${thread_id}/runs/wait`, run);
  const [first] = (await server.post('/interrupts/search', {})).body;
  expect(first.value).toEqual({ question: 'What is your name?' });

  const answer = { assistant_id: 'questions', command: { resume: { [first.interrupt_id]: 'Ada' } } };
  const answered = await server.post(`/threads/${thread_id}/runs/wait`, answer);
  // Its id is that of its task before LangGraph 1.7, and one of its own from then on.
  const second = { id: expect.any(String), value: { question: 'Where to?' } };
  expect(answered.body).toMatchObject({ __interrupt__: [second] });
  expect((await server.get(`/threads/${thread_id}`)).body.status).toBe('interrupted');
  expect((await server.post('/interrupts/search', {})).body).toMatchObject([
    {
      interrupt_id: answered.body.__interrupt__[0].id,
      value: second.value,
      response_schema: { required: ['city', 'nights'] },
    },
  ]);
});

test('a very large interrupt value is omitted from the list and is in the state of its thread', async () => {
  await using server = await openApp({ graphs: ['parallel-send'] });
  const { thread_id } = (await server.post('/threads', {})).body;
  const input = { items: ['x'.repeat(40_000)], ask: true };
  await server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'parallel-send', input });
  const [found] = (await server.post('/interrupts/search', {})).body;
  expect(found.value_bytes).toBe(40_017);
  expect(found).not.toHaveProperty('value');
  expect((await server.get(`/threads/${thread_id}/state`)).text).toContain(found.interrupt_id);
});

test('users neither find nor count interrupts of other users', async () => {
  await using server = await openApp({ graphs: ['interrupting'], folder });
  const own = await asking(server, {}, ALICE);
  await asking(server, {}, BOB);
  expect(threadsOf((await server.post('/interrupts/search', {}, ALICE)).body)).toEqual([own]);
  expect((await server.post('/interrupts/count', {}, ALICE)).body).toBe(1);
  const asked = { thread_metadata: { owner: 'alice' } };
  expect((await server.post('/interrupts/search', asked, BOB)).body).toEqual([]);
  expect((await server.post('/interrupts/count', asked, BOB)).body).toBe(0);
});

test('an invalid search of interrupts is refused with the reason', async () => {
  await using server = await openApp({ graphs: ['interrupting'] });
  const detail = async (query: object) => {
    const { status, body } = await server.post('/interrupts/search', query);
    expect([query, status]).toEqual([query, 422]);
    return body.detail;
  };
  await asking(server, {});
  await asking(server, {});
  const runs = await server.post('/runs/search', { limit: 1 });
  const cursor = runs.headers['x-pagination-next'];
  expect(await detail({ cursor })).toEqual(naming('cursor', 'X-Pagination-Next'));
  expect(await detail({ limit: 101 })).toEqual(naming('limit', 1, 100));
  expect(await detail({ sort_order: 'newest' })).toMatch('sort_order');
  expect(await detail({ assistant_id: 'nobody' })).toBe('Invalid assistant ID: must be a UUID');
  expect(await detail({ thread_metadata: 'red' })).toMatch('thread_metadata');
  for (const name of ['since_from', 'since_to', 'deadline_from', 'deadline_to'])
    expect(await detail({ [name]: 'yesterday' })).toMatch(name);
});
