import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['echo'], environment: { HTTP_MAX_REQUEST_BODY_BYTES: '1000000' } });
afterAll(() => http[Symbol.asyncDispose]());

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** Every way to write, with a field that goes into the database. */
const WRITES: [string, (value: string) => string][] = [
  ['POST /assistants', (value) => `{"graph_id":"echo","metadata":${value}}`],
  ['POST /threads', (value) => `{"metadata":${value}}`],
  ['POST /threads/{thread_id}/runs', (value) => `{"assistant_id":"echo","metadata":${value}}`],
  ['POST /threads/{thread_id}/runs/stream', (value) => `{"assistant_id":"echo","config":${value}}`],
  ['POST /threads/{thread_id}/runs/wait', (value) => `{"assistant_id":"echo","context":${value}}`],
  ['POST /threads/{thread_id}/state', (value) => `{"values":${value}}`],
  ['PATCH /threads/{thread_id}', (value) => `{"metadata":${value}}`],
  ['POST /runs', (value) => `{"assistant_id":"echo","command":${value}}`],
  ['POST /runs/wait', (value) => `{"assistant_id":"echo","checkpoint":${value}}`],
  ['POST /runs/stream', (value) => `{"assistant_id":"echo","config":{"configurable":${value}}}`],
];

const MALICE: [string, string, number, RegExp][] = [
  ['not JSON', '{', 422, /^Invalid JSON in request body: /],
  ['a number', '1', 422, /: expected object, received number|: Invalid input|expected/],
  ['a list of nonsense', '[[1,2,[]]]', 422, /expected/],
  ['10,000 levels', nested(10_000), 422, /^Request body is nested deeper than 500 levels$/],
  ['a prototype', '{"__proto__":{"admin":true}}', 422, /not allowed: __proto__$/],
  ["a constructor's prototype", '{"constructor":{"prototype":{}}}', 422, /not allowed: constructor$/],
  [
    'too much',
    `{"a":"${'x'.repeat(2_000_000)}"}`,
    413,
    /^Request body too large \(limit: 1000000 bytes\)\. The limit is set by server\.body_limit\.$/,
  ],
];

async function counts() {
  const count = async (noun: string) => (await http.post(`/${noun}/count`, {})).body;
  return [await count('assistants'), await count('threads')];
}

describe.each(WRITES)('%s', (operation, payload) => {
  test.each(MALICE)('refuses %s and stores nothing', async (_what, value, status, detail) => {
    const thread_id = await http.thread();
    const before = await counts();
    const [method, path] = operation.split(' ') as ['POST', string];
    const answer = await http.send(method, path.replace('{thread_id}', thread_id), payload(value));
    // State may be a list of updates, so a list is no mistake of form there; the graph refuses it.
    const expected = operation.endsWith('/state') && value.startsWith('[') ? 400 : status;
    expect([answer.status, answer.body.detail]).toEqual([expected, expect.any(String)]);
    if (expected === status) expect(answer.body.detail).toMatch(detail);
    expect(await counts()).toEqual(before);
    expect((await http.get(`/threads/${thread_id}/runs`)).body).toEqual([]);
    expect(http.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

test('text that a database cannot store is replaced', async () => {
  const bad = '{"metadata":{"nul\\u0000":"a\\u0000b","half":"\\ud800"}}';
  const { status, body } = await http.send('POST', '/threads', bad);
  expect([status, body.metadata]).toEqual([200, { 'nul\uFFFD': 'a\uFFFDb', half: '\uFFFD' }]);
  expect((await http.post('/threads/search', { metadata: body.metadata })).body).toHaveLength(1);
});

test.each([
  '/threads/%00',
  '/threads/..%2f..%2fetc%2fpasswd',
  `/threads/${'x'.repeat(900)}`,
  `/threads/${'x'.repeat(5000)}`,
  '/assistants/%00',
  "/assistants/'%20or%201=1--",
  '/threads/00000000-0000-0000-0000-000000000000/runs/x',
  '/threads/00000000-0000-0000-0000-000000000000/runs?limit=1e9&offset=-1',
  '/threads/00000000-0000-0000-0000-000000000000/runs?status=%00&select=%00',
  '/threads/00000000-0000-0000-0000-000000000000/state/%00',
  '/threads/00000000-0000-0000-0000-000000000000/history?before=%00',
  '/assistants/echo/subgraphs/%00?recurse=maybe',
  '/runs/x/stream?stream_mode=%5B',
  '/%c0%af',
])('an invalid GET %s is a 4xx with a reason', async (path) => {
  const { status, body } = await http.get(path);
  expect([status >= 400 && status < 500, body.detail]).toEqual([true, expect.stringMatching(/\w/)]);
});
