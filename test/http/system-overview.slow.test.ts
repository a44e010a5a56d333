import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { until } from '../support/until.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const environment = { AGENT_SERVER_API_KEYS: 'operator' };

test('the overview shows the runs of all users, the processes, the storage and the versions', async () => {
  await using server = await openApp({ graphs: ['echo', 'interrupting'], environment });
  const run = (body: object, path = '/runs/wait') => server.post(path, body, OPERATOR);
  // Deleted with its thread when it ends.
  await run({ assistant_id: 'echo', input: {} });
  const { thread_id } = (await server.post('/threads', {}, OPERATOR)).body;
  await run({ assistant_id: 'interrupting', input: { x: 1 } }, `/threads/${thread_id}/runs/wait`);
  await run({ assistant_id: 'echo', input: {}, after_seconds: 1000 }, '/runs');
  await run({ assistant_id: 'echo', schedule: '0 8 * * *', input: {} }, '/runs/crons');
  await run({ assistant_id: 'echo', schedule: '0 8 * * *', enabled: false, input: {} }, '/runs/crons');

  const { status, body } = await server.get('/system/overview', OPERATOR);
  expect(status).toBe(200);
  expect(body.runs.hours).toHaveLength(24);
  expect(body.runs.hours).toContainEqual(expect.objectContaining({ median_seconds: expect.any(Number) }));
  const { hours, ended } = body.runs;
  expect(hours.reduce((sum: number, hour: { ended: number }) => sum + hour.ended, 0)).toBe(ended.success);
  expect(body).toMatchObject({
    runs: {
      pending: 1,
      running: 0,
      oldest_waiting: null,
      ended: { success: 1, error: 0, timeout: 0, interrupted: 0, failed_last_hour: 0, since: null },
    },
    threads: { busy: 0, interrupted: 1, error: 0 },
    interrupts: { waiting: 1, more: false },
    crons: { enabled: 1, overdue: 0 },
    webhooks: { pending: 0, dead: 0 },
    processes: [{ pid: process.pid, role: 'all', slots: 1000, version: expect.any(String) }],
    storage: { engine: expect.stringMatching(/^(sqlite|postgres)$/), size_bytes: expect.any(Number) },
    versions: { node: process.versions.node, langgraph_js: expect.stringMatching(/^\d/) },
  });
});

test('the overview counts the failures of the last hour that a search of runs finds', async () => {
  await using server = await openApp({ graphs: ['fails', 'echo'], environment });
  await server.get('/system/overview', OPERATOR);
  for (const assistant_id of ['fails', 'echo', 'fails']) {
    const run = { assistant_id, input: { x: 1 }, on_completion: 'keep' };
    await server.post('/runs/wait', run, OPERATOR);
  }
  const { runs, at } = (await server.get('/system/overview', OPERATOR)).body;
  expect(runs.ended).toMatchObject({ success: 1, failed_last_hour: 2 });
  expect(runs.hours.reduce((sum: number, hour: { failed: number }) => sum + hour.failed, 0)).toBe(2);
  const ended_from = new Date(Date.parse(at) - 3_600_000).toISOString();
  const failed = { status: ['error', 'timeout'], ended_from };
  expect((await server.post('/runs/search', failed, OPERATOR)).body).toHaveLength(2);
  expect((await server.post('/runs/count', failed, OPERATOR)).body).toBe(2);
  expect((await server.post('/runs/count', { ...failed, ended_to: ended_from }, OPERATOR)).body).toBe(0);
  expect((await server.post('/runs/count', { ended_from: 'yesterday' }, OPERATOR)).status).toBe(422);
});

test('the overview has the warnings of the doctor, and names the run that has waited longest', async () => {
  await using server = await openApp({ graphs: ['echo'], environment, runs: { concurrency: 0 } });
  const short = { name: 'short', scope: 'run', expires_in_days: 2 };
  const { key, key_id } = (await server.post('/keys', short, OPERATOR)).body;
  const run = { assistant_id: 'echo', input: {} };
  const { run_id, thread_id } = (await server.post('/runs', run, { 'x-api-key': key })).body;
  await server.post('/runs', run, OPERATOR);

  const { runs, warnings } = (await server.get('/system/overview', OPERATOR)).body;
  expect(runs).toMatchObject({
    pending: 2,
    oldest_waiting: { run_id, thread_id, since: expect.any(String) },
  });
  expect(warnings).toContainEqual({
    check: 'keys',
    level: 'notice',
    message: naming(key_id, 'short', 'expires'),
  });
});

test('only unrestricted callers can read the overview', async () => {
  const folder = resolve(import.meta.dirname, '../fixtures/auth');
  await using server = await openApp({ graphs: ['echo'], folder, environment });
  const { key } = (await server.post('/keys', { name: 'a', scope: 'run' }, OPERATOR)).body;
  for (const headers of [{ authorization: 'Bearer alice-token' }, { 'x-api-key': key }])
    expect((await server.get('/system/overview', headers)).status).toBe(403);
  expect((await server.get('/system/overview', OPERATOR)).status).toBe(200);
});

test('the overview lists which process executes which run, until when', async () => {
  await using server = await openApp({ graphs: ['sleeper', 'echo'], environment });
  expect((await server.get('/system/leases', OPERATOR)).body).toEqual([]);
  const { thread_id } = (await server.post('/threads', {}, OPERATOR)).body;
  const run = { assistant_id: 'sleeper', input: { ms: 60_000 } };
  const { run_id, assistant_id } = (await server.post(`/threads/${thread_id}/runs`, run, OPERATOR)).body;
  const leases = async () => (await server.get('/system/leases?limit=5', OPERATOR)).body;
  await until('a process executes the run', async () => (await leases()).length === 1);
  const [lease] = await leases();
  const [worker] = (await server.get('/system/overview', OPERATOR)).body.processes;
  expect(lease).toEqual({
    run_id,
    thread_id,
    assistant_id,
    attempt: 1,
    started_at: expect.stringMatching(/Z$/),
    worker_id: worker.worker_id,
    host: worker.host,
    pid: process.pid,
    expires_at: expect.stringMatching(/Z$/),
  });
  expect(Date.parse(lease.expires_at)).toBeGreaterThan(Date.parse(lease.started_at));
  const cancel = `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`;
  await server.post(cancel, {}, OPERATOR);
  expect((await server.get('/system/leases', OPERATOR)).body).toEqual([]);
  expect((await server.get('/system/leases?limit=0', OPERATOR)).status).toBe(422);
});
