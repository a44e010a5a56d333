import { afterAll, describe, expect, test } from 'vitest';
import { systemAssistantId } from '../../src/core/ids.ts';
import { openApp } from '../support/app.ts';

/** Time stands still. */
const clock = { now: () => Date.parse('2026-06-01T12:00:00.000Z'), monotonic: () => 0 };
const http = await openApp({ graphs: ['echo'], clock });
afterAll(() => http[Symbol.asyncDispose]());

const ECHO = systemAssistantId('echo');
const NOBODY = '00000000-0000-4000-8000-000000000000';
const YEARLY = { assistant_id: 'echo', schedule: '0 0 1 1 *' };

async function create(fields: object = {}) {
  const { status, body } = await http.post('/runs/crons', { ...YEARLY, ...fields });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}

test('a created cron is returned with its fields and its next run date', async () => {
  const sent = {
    ...YEARLY,
    timezone: 'Europe/Berlin',
    end_time: '2099-12-31T23:59:59+01:00',
    input: { x: 1 },
    metadata: { m: 1 },
    config: { tags: ['t'], configurable: { k: 'v' } },
    webhook: 'https://93.184.215.14/hook',
    something: 'else',
  };
  const cron = await create(sent);
  expect(cron).toEqual({
    cron_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    assistant_id: ECHO,
    thread_id: null,
    user_id: '',
    end_time: sent.end_time,
    schedule: '0 0 1 1 *',
    timezone: 'Europe/Berlin',
    payload: {
      ...sent,
      assistant_id: ECHO,
      config: { tags: ['t'], configurable: { k: 'v', cron_id: cron.cron_id } },
    },
    next_run_date: '2026-12-31T23:00:00.000Z',
    metadata: { m: 1 },
    on_run_completed: 'delete',
    enabled: true,
    disabled_reason: null,
    created_at: '2026-06-01T12:00:00.000Z',
    updated_at: '2026-06-01T12:00:00.000Z',
  });
  expect((await http.get(`/runs/crons/${cron.cron_id}`)).body).toEqual(cron);
});

test('a cron on a thread has no on_run_completed', async () => {
  const thread_id = await http.thread();
  const { body } = await http.post(`/threads/${thread_id}/runs/crons`, YEARLY);
  expect(body).toMatchObject({ thread_id, on_run_completed: null });
});

describe('an invalid cron is refused when it is created', () => {
  test.each([
    [{ schedule: 'bad' }, 422, "Invalid cron schedule: 'bad'. Reason: it needs five fields"],
    [
      { schedule: '0 30 8 * * MON' },
      422,
      "Invalid cron schedule: '0 30 8 * * MON'. Reason: it needs five fields: minute, hour, day of month, month, day of week, without the seconds in front;",
    ],
    [{ schedule: '0 0 30 2 *' }, 422, "Invalid cron schedule: '0 0 30 2 *'. Reason: it never fires"],
    [{ schedule: '@at +200000-01-01T00:00:00Z' }, 422, "Invalid cron schedule: '@at +200000-"],
    [{ schedule: '@at 9999-12-31T23:59:59-23:59' }, 422, "Invalid cron schedule: '@at 9999-"],
    [{ schedule: undefined }, 422, 'schedule'],
    [{ assistant_id: undefined }, 422, 'assistant_id'],
    [{ timezone: 'Mars/X' }, 422, "Invalid timezone: 'Mars/X'. Use IANA timezone format"],
    [{ schedule: '0,'.repeat(100_000) }, 422, 'schedule'],
    [{ end_time: 'x' }, 422, 'end_time: must be a date and time'],
    [{ end_time: '0000-01-01T00:00:00Z' }, 422, 'end_time: must be in the years'],
    [{ end_time: '9999-12-31T23:59:59-23:59' }, 422, 'end_time: must be in the years'],
    [{ enabled: 'yes' }, 422, 'enabled'],
    [{ stream_mode: 'sideways' }, 422, 'stream_mode'],
    [{ assistant_id: 'x' }, 404, "Assistant 'x' not found"],
    [{ assistant_id: NOBODY }, 404, `Assistant '${NOBODY}' not found`],
    [{ config: { configurable: { a: 1 } }, context: { b: 2 } }, 400, 'Cannot specify both'],
    [{ webhook: 'ftp://example.com' }, 422, 'ftp'],
  ])('%#: %j', async (fields, status, detail) => {
    const answer = await http.post('/runs/crons', { ...YEARLY, ...fields });
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)]);
  });

  test('on a missing thread', async () => {
    const { status, body } = await http.post(`/threads/${NOBODY}/runs/crons`, YEARLY);
    expect([status, body.detail]).toEqual([
      404,
      expect.stringContaining(`Thread with ID '${NOBODY}' not found`),
    ]);
    const path = '/threads/x/runs/crons';
    expect((await http.post(path, YEARLY)).body.detail).toBe('Invalid thread ID: must be a UUID');
  });
});

test.each([
  ['GET', '', 'Not Found'],
  ['DELETE', '', 'Not Found'],
  ['PATCH', '', `Cron '${NOBODY}' not found`],
  ['POST', '/trigger', 'Not Found'],
  ['GET', '/runs', 'Not Found'],
] as const)('a missing cron is 404: %s %s', async (method, path, detail) => {
  const payload = method === 'PATCH' ? { enabled: false } : undefined;
  const answer = await http.send(method, `/runs/crons/${NOBODY}${path}`, payload);
  expect([answer.status, answer.body]).toEqual([404, { detail }]);
  const noId = await http.send(method, `/runs/crons/x${path}`, payload);
  expect([noId.status, noId.body.detail]).toEqual([422, 'Invalid cron ID: must be a UUID']);
});

describe('a patch of a cron', () => {
  test('changes the given fields: metadata is merged in the cron and replaced in the payload', async () => {
    const { cron_id, created_at } = await create({
      metadata: { a: 1, b: 1 },
      end_time: '2099-01-01T00:00:00Z',
    });
    const patch = {
      schedule: '0 0 2 1 *',
      timezone: 'Asia/Tokyo',
      metadata: { b: 2 },
      input: { y: 1 },
      on_run_completed: 'keep',
      assistant_id: 'another',
    };
    const { status, body } = await http.patch(`/runs/crons/${cron_id}`, patch);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      schedule: '0 0 2 1 *',
      timezone: 'Asia/Tokyo',
      metadata: { a: 1, b: 2 },
      on_run_completed: 'keep',
      end_time: '2099-01-01T00:00:00Z',
      next_run_date: '2027-01-01T15:00:00.000Z',
      created_at,
    });
    expect(body.payload).toMatchObject({ metadata: { b: 2 }, input: { y: 1 }, assistant_id: ECHO });
    expect((await http.get(`/runs/crons/${cron_id}`)).body).toEqual(body);
  });

  test('replaces a single time by a schedule, and a schedule by a single time', async () => {
    const { cron_id } = await create();
    const at = '2030-01-01T00:00:00Z';
    const once = await http.patch(`/runs/crons/${cron_id}`, { at });
    expect(once.body.payload).toMatchObject({ at });
    expect(once.body.payload).not.toHaveProperty('schedule');
    const daily = await http.patch(`/runs/crons/${cron_id}`, { schedule: '@daily' });
    expect(daily.body.payload).toMatchObject({ schedule: '@daily' });
    expect(daily.body.payload).not.toHaveProperty('at');
  });

  test('pauses and resumes a cron, and a paused or ended cron does not fire', async () => {
    const { cron_id, next_run_date } = await create();
    const patched = async (patch: object) => (await http.patch(`/runs/crons/${cron_id}`, patch)).body;
    expect(await patched({ enabled: false })).toMatchObject({ enabled: false, next_run_date: null });
    expect(await patched({ enabled: true })).toMatchObject({ enabled: true, next_run_date });
    expect(await patched({ end_time: '2020-01-01T00:00:00Z' })).toMatchObject({ next_run_date: null });
    expect(await patched({ metadata: {} })).toMatchObject({
      end_time: '2020-01-01T00:00:00Z',
      next_run_date: null,
    });
    expect(await patched({ end_time: null })).toMatchObject({ end_time: null, next_run_date });
  });

  test('with a context replaces the configurable, and vice versa', async () => {
    const { cron_id } = await create({ config: { tags: ['t'], configurable: { a: 1 } } });
    const { body } = await http.patch(`/runs/crons/${cron_id}`, { context: { b: 2 } });
    expect(body.payload).toMatchObject({
      context: { b: 2 },
      config: { tags: ['t'], configurable: { cron_id } },
    });
    expect(body.payload.config.configurable).toEqual({ cron_id });
    const again = await http.patch(`/runs/crons/${cron_id}`, { config: { configurable: { c: 3 } } });
    expect(again.body.payload.config).toEqual({ configurable: { c: 3, cron_id } });
    expect(again.body.payload).not.toHaveProperty('context');
  });

  test.each([
    [{}, 400, 'Request body cannot be empty'],
    [{ schedule: 'bad' }, 422, "Invalid cron schedule: 'bad'"],
    [{ timezone: 'Mars/X' }, 422, "Invalid timezone: 'Mars/X'"],
    [{ config: { configurable: { a: 1 } }, context: { b: 2 } }, 400, 'Cannot specify both'],
    [{ webhook: 'ftp://example.com' }, 422, 'ftp'],
  ])('with invalid fields is refused: %j', async (patch, status, detail) => {
    const cron = await create();
    const answer = await http.patch(`/runs/crons/${cron.cron_id}`, patch);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)]);
    expect((await http.get(`/runs/crons/${cron.cron_id}`)).body).toEqual(cron);
  });
});

test('a deleted cron is 404, and deleting an assistant deletes its crons', async () => {
  const { cron_id } = await create();
  expect((await http.delete(`/runs/crons/${cron_id}`)).status).toBe(204);
  expect((await http.get(`/runs/crons/${cron_id}`)).status).toBe(404);

  const { body: own } = await http.post('/assistants', { graph_id: 'echo' });
  const ofAssistant = await create({ assistant_id: own.assistant_id });
  await http.delete(`/assistants/${own.assistant_id}`);
  expect((await http.get(`/runs/crons/${ofAssistant.cron_id}`)).status).toBe(404);
});

test('a repeated request with an Idempotency-Key creates one cron', async () => {
  const headers = { 'idempotency-key': 'once' };
  const body = { ...YEARLY, metadata: { once: true } };
  const first = await http.post('/runs/crons', body, headers);
  const again = await http.post('/runs/crons', body, headers);
  expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
  expect((await http.post('/runs/crons/count', { metadata: { once: true } })).body).toBe(1);
});

test('a cron with a single time runs once, at that time', async () => {
  const at = '2026-06-02T09:30:00+02:00';
  const { status, body } = await http.post('/runs/crons', { assistant_id: 'echo', at });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    schedule: '@at 2026-06-02T07:30:00.000Z',
    next_run_date: '2026-06-02T07:30:00.000Z',
  });
  const later = { at: '2026-06-03T00:00:00Z' };
  expect((await http.patch(`/runs/crons/${body.cron_id}`, later)).body.next_run_date).toBe(
    '2026-06-03T00:00:00.000Z',
  );
});

test.each([
  ['no time at all', {}],
  ['a schedule and a single time', { schedule: '@daily', at: '2030-01-01T00:00:00Z' }],
  ['a single time that has passed', { at: '2026-06-01T12:00:00Z' }],
  ['a single time that is none', { at: 'tomorrow' }],
])('a cron with %s is refused', async (_what, fields) => {
  expect((await http.post('/runs/crons', { assistant_id: 'echo', ...fields })).status).toBe(422);
});
