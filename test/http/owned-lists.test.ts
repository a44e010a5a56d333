import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };
const GRAPHS = ['asks', 'echo', 'interrupting', 'prints', 'spender'];

type Headers = Record<string, string>;

const server = await openApp({ graphs: GRAPHS, folder });
afterAll(() => server[Symbol.asyncDispose]());

/** A thread after a run of this graph. */
async function ranOn(graph: string, input: object, headers: Headers) {
  const { thread_id } = (await server.post('/threads', { metadata: { of: graph } }, headers)).body;
  const body = { assistant_id: graph, input };
  const answer = await server.post(`/threads/${thread_id}/runs/wait`, body, headers);
  const run_id = String(answer.headers['content-location']).split('/').at(-1) ?? '';
  return { thread_id, run_id };
}

/** Something of each kind that the lists show. */
async function belongings(headers: Headers) {
  const asking = await ranOn('interrupting', { log: [] }, headers);
  await ranOn('asks', { ask: { deadline: '2026-03-01T08:00:00Z' } }, headers);
  const { thread_id } = await ranOn('asks', { ask: 'Really?' }, headers);
  const answer = { assistant_id: 'asks', command: { resume: 'yes' } };
  await server.post(`/threads/${thread_id}/runs/wait`, answer, headers);
  const printed = await ranOn('prints', { what: 'each_method' }, headers);
  const spent = await ranOn('spender', { calls: ['small'] }, headers);
  const { assistant_id } = (await server.post('/assistants', { graph_id: 'echo' }, headers)).body;
  const cron = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: {} };
  const { cron_id } = (await server.post('/runs/crons', cron, headers)).body;
  await server.send('PUT', '/store/items', { namespace: ['notes'], key: 'a', value: {} }, headers);
  return { asking, printed, spent, assistant_id: assistant_id as string, cron_id: cron_id as string };
}

type Belongings = Awaited<ReturnType<typeof belongings>>;

/** How much a list, a page or a count shows. */
function sizeOf(body: number | unknown[] | Record<string, unknown[]>): number {
  if (typeof body === 'number') return body;
  const list = Array.isArray(body) ? body : (body['items'] ?? body['namespaces'] ?? body['groups']);
  return list?.length ?? Number.NaN;
}

const DUE = { deadline_to: '2026-03-02T00:00:00Z' };
const WAITING = { since_from: '2026-01-01T00:00:00Z' };

/** Lists of everything that a caller may see, and how much of one user's belongings they show. */
const LISTS: [name: string, url: string, body: object, of_one: number][] = [
  ['runs', '/runs/search', {}, 6],
  ['runs on some threads', '/runs/search', { thread_metadata: { of: 'prints' } }, 1],
  ['the number of runs', '/runs/count', {}, 6],
  ['interrupts', '/interrupts/search', {}, 2],
  ['interrupts with a deadline', '/interrupts/search', DUE, 1],
  ['interrupts of a time', '/interrupts/search', WAITING, 2],
  ['the number of interrupts', '/interrupts/count', {}, 2],
  ['the number of interrupts with a deadline', '/interrupts/count', DUE, 1],
  ['the number of interrupts of a time', '/interrupts/count', WAITING, 2],
  ['answers to interrupts', '/interrupts/answers/search', {}, 1],
  ['answers on some threads', '/interrupts/answers/search', { thread_metadata: { of: 'asks' } }, 1],
  ['threads', '/threads/search', {}, 5],
  ['the number of threads', '/threads/count', {}, 5],
  ['crons', '/runs/crons/search', {}, 1],
  ['the number of crons', '/runs/crons/count', {}, 1],
  ['items of the store', '/store/items/search', { namespace_prefix: [] }, 1],
  ['namespaces of the store', '/store/namespaces', {}, 1],
];

/** Lists that belong to a run or a thread. */
const PARTS: [name: string, url: (ids: Belongings) => string][] = [
  ['steps of a run', ({ printed }) => `/runs/${printed.run_id}/steps`],
  [
    'steps of a run of a thread',
    ({ printed }) => `/threads/${printed.thread_id}/runs/${printed.run_id}/steps`,
  ],
  ['lines of a run', ({ printed }) => `/runs/${printed.run_id}/logs`],
  [
    'lines of a run of a thread',
    ({ printed }) => `/threads/${printed.thread_id}/runs/${printed.run_id}/logs`,
  ],
  ['lines of a run as a stream', ({ printed }) => `/runs/${printed.run_id}/logs?stream=true`],
  ['the tree of a thread', ({ asking }) => `/threads/${asking.thread_id}/tree`],
  ['runs of a thread', ({ asking }) => `/threads/${asking.thread_id}/runs`],
  ['an explanation of a run', ({ asking }) => `/runs/${asking.run_id}/explain`],
  ['an explanation of a thread', ({ asking }) => `/threads/${asking.thread_id}/explain`],
];

describe('the owner of a row', () => {
  let alices: Belongings;
  beforeAll(async () => {
    alices = await belongings(ALICE);
  });

  test.each(LISTS)('is the only user who finds it in %s', async (_name, url, body, of_one) => {
    const [own, others] = [await server.post(url, body, ALICE), await server.post(url, body, BOB)];
    expect([own.status, sizeOf(own.body)]).toEqual([200, of_one]);
    expect([others.status, sizeOf(others.body)]).toEqual([200, 0]);
  });

  test.each(PARTS)('is the only user who reads %s', async (_name, url) => {
    const [own, others] = [await server.get(url(alices), ALICE), await server.get(url(alices), BOB)];
    expect([own.status, /^(\[\]|\{\})?$/.test(own.text)]).toEqual([200, false]);
    expect([others.status, others.body.detail]).toEqual([404, expect.stringMatching(/not found/i)]);
  });

  test.each(['/keys', '/system/overview', '/system/history', '/system/server-logs', '/system/leases'])(
    'cannot read %s, which is for administrators',
    async (url) => {
      for (const headers of [ALICE, BOB]) expect((await server.get(url, headers)).status).toBe(403);
    },
  );

  test('finds the same rows when other users own rows too', async () => {
    const bobs = await belongings(BOB);
    const idsOf = ({ asking, printed, spent }: Belongings) =>
      [asking, printed, spent].flatMap(({ run_id, thread_id }) => [run_id, thread_id]);
    for (const [headers, others] of [
      [ALICE, idsOf(bobs)],
      [BOB, idsOf(alices)],
    ] as const) {
      for (const [name, url, body, of_one] of LISTS) {
        const found = await server.post(url, body, headers);
        expect([name, sizeOf(found.body)]).toEqual([name, of_one]);
        expect([name, others.filter((id) => found.text.includes(id))]).toEqual([name, []]);
      }
    }
  });
});
