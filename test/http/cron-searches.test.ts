import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

/** Time stands still. */
const clock = { now: () => Date.parse('2026-06-01T12:00:00.000Z'), monotonic: () => 0 };
const http = await openApp({ graphs: ['echo'], clock });
afterAll(() => http[Symbol.asyncDispose]());

const YEARLY = { assistant_id: 'echo', schedule: '0 0 1 1 *' };

async function create(fields: object = {}) {
  const { status, body } = await http.post('/runs/crons', { ...YEARLY, ...fields });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}

describe('a search of crons', () => {
  const mark = { search: 'these' };
  const found = async (query: object = {}) =>
    (
      await http.post('/runs/crons/search', {
        metadata: mark,
        sort_by: 'next_run_date',
        sort_order: 'asc',
        ...query,
      })
    ).body.map(({ metadata }: { metadata: { n: number } }) => metadata.n);

  test('finds by thread, assistant, metadata and state, sorted, with rows without the sort field last', async () => {
    const thread_id = await http.thread();
    const { body: own } = await http.post('/assistants', { graph_id: 'echo' });
    await create({ metadata: { ...mark, n: 1 }, schedule: '0 0 2 1 *', assistant_id: own.assistant_id });
    await create({ metadata: { ...mark, n: 2, deep: { in: ['a', 'b'] } }, enabled: false });
    await http.post(`/threads/${thread_id}/runs/crons`, { ...YEARLY, metadata: { ...mark, n: 3 } });

    expect(await found()).toEqual([3, 1, 2]);
    expect(await found({ sort_order: 'desc' })).toEqual([1, 3, 2]);
    expect(await found({ thread_id })).toEqual([3]);
    expect(await found({ assistant_id: own.assistant_id })).toEqual([1]);
    expect(await found({ assistant_id: 'echo' })).toEqual([3, 2]);
    expect(await found({ enabled: false })).toEqual([2]);
    expect(await found({ metadata: { ...mark, deep: { in: ['b'] } } })).toEqual([2]);
    expect(await found({ limit: 1, offset: 1 })).toEqual([1]);
    expect((await http.post('/runs/crons/count', { metadata: mark })).body).toBe(3);
    expect((await http.post('/runs/crons/count', { thread_id })).body).toBe(1);
    const ofEcho = { assistant_id: 'echo', metadata: mark };
    expect((await http.post('/runs/crons/count', ofEcho)).body).toBe(2);
  });

  test('reports whether more follow, and returns the selected fields', async () => {
    const first = await http.post('/runs/crons/search', {
      metadata: mark,
      limit: 2,
      select: ['cron_id', 'now'],
    });
    expect(first.headers).toMatchObject({ 'x-pagination-next': '2', 'x-pagination-total': '3' });
    expect(first.body.map((cron: object) => Object.keys(cron))).toEqual(Array(2).fill(['cron_id', 'now']));
    expect(Date.parse(first.body[0].now)).not.toBeNaN();
    const last = await http.post('/runs/crons/search', { metadata: mark, limit: 2, offset: 2 });
    expect(last.headers).not.toHaveProperty('x-pagination-next');
    expect(last.headers).toHaveProperty('x-pagination-total', '3');
  });

  test.each([
    { limit: 0 },
    { limit: 1001 },
    { sort_by: 'schedule' },
    { assistant_id: 'x' },
    { select: ['x'] },
  ])('with invalid conditions is refused: %j', async (query) => {
    expect((await http.post('/runs/crons/search', query)).status).toBe(422);
  });
});

test('crons that have ended are found, or left out', async () => {
  const metadata = { of: 'ended' };
  const ended = await create({ metadata, end_time: '2026-01-01T00:00:00Z' });
  const paused = await create({ metadata, enabled: false });
  const running = await create({ metadata });
  const find = async (filter: object) => {
    const { body } = await http.post('/runs/crons/search', { metadata, sort_order: 'asc', ...filter });
    return body.map(({ cron_id }: { cron_id: string }) => cron_id);
  };
  expect(await find({ ended: true })).toEqual([ended.cron_id]);
  expect(await find({ ended: false })).toEqual([paused.cron_id, running.cron_id]);
  expect(await find({ ended: false, enabled: true })).toEqual([running.cron_id]);
});
