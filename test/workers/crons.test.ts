import { afterAll, expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { cronLoop } from '../../src/workers/schedules.ts';
import { openApp } from '../support/app.ts';
import { settableClock } from '../support/crons.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;

/** A scheduler whose crons come at `next`, and what it was asked to do. */
function scheduler(next: string | undefined) {
  const clock = settableClock();
  const done: string[] = [];
  const ticks = {
    fireDue: async () => void done.push('fire'),
    recalculateDates: async () => void done.push('realign'),
    async nextDue() {
      done.push('look');
      return next;
    },
  };
  const loop = cronLoop({ ticks, bus: memoryBus(), clock, logger: silentLogger });
  return {
    clock,
    done,
    async [Symbol.asyncDispose]() {
      await loop.stop();
    },
    loop,
  };
}

test('the scheduler corrects dates at its start and after the clock was set back, and otherwise only reads them', async () => {
  await using story = scheduler(undefined);
  const { clock, done, loop } = story;
  /** Lets it look once more; whether it put dates right. */
  const realigns = async () => {
    done.length = 0;
    loop.wake();
    await until('it has looked', () => done.includes('look'));
    return done.includes('realign');
  };
  loop.start();
  await until('it has begun', () => done.includes('look'));
  expect(done[0]).toBe('realign');
  clock.pass(HOUR);
  expect(await realigns()).toBe(false);
  clock.set('2026-06-01T18:00:00.000Z');
  expect(await realigns()).toBe(false);
  clock.set('2026-06-01T12:30:00.000Z');
  expect(await realigns()).toBe(true);
  expect(await realigns()).toBe(false);
});

test('the scheduler fires due crons, and none before', async () => {
  await using story = scheduler('2026-06-01T13:00:00.000Z');
  const { clock, done, loop } = story;
  clock.set('2026-06-01T12:00:00.000Z');
  loop.start();
  await until('it has looked', () => done.includes('look'));
  expect(done).not.toContain('fire');
  clock.set('2026-06-01T13:00:00.000Z');
  loop.wake();
  await until('it has fired', () => done.includes('fire'));
});

const clock = settableClock();
const http = await openApp({ graphs: ['echo'], clock });
afterAll(() => http[Symbol.asyncDispose]());

test('a created or changed cron wakes the scheduler', async () => {
  const cron = { assistant_id: 'echo', schedule: '0 * * * *', input: { x: 1 } };
  const { body: first } = await http.post('/runs/crons', cron);
  clock.pass(HOUR);
  const { body: second } = await http.post('/runs/crons', cron);
  const statuses = async (cron_id: string) =>
    (await http.get(`/runs/crons/${cron_id}/runs`)).body.map(({ status }: { status: string }) => status);
  await until('the first has run', async () => (await statuses(first.cron_id))[0] === 'success');
  expect(await statuses(second.cron_id)).toEqual([]);

  clock.pass(HOUR);
  await http.patch(`/runs/crons/${second.cron_id}`, { metadata: { a: 1 } });
  await until('both have run', async () => {
    const all = [await statuses(first.cron_id), await statuses(second.cron_id)];
    return all.flat().length === 3 && all.flat().every((status) => status === 'success');
  });
});

test('a server with crons disabled creates none of their runs', async () => {
  const still = settableClock();
  await using quiet = await openApp({ graphs: ['echo'], clock: still, crons: { enabled: false } });
  expect((await quiet.get('/info')).body.flags.crons).toBe(false);
  const { body } = await quiet.post('/runs/crons', { assistant_id: 'echo', schedule: '0 * * * *' });
  still.pass(HOUR);
  await quiet.patch(`/runs/crons/${body.cron_id}`, { metadata: { a: 1 } });
  expect((await quiet.get(`/runs/crons/${body.cron_id}/runs`)).body).toEqual([]);
  const triggered = await quiet.post(`/runs/crons/${body.cron_id}/trigger`);
  expect(triggered.status).toBe(200);
  expect(triggered.headers['content-location']).toBe(
    `/threads/${triggered.body.thread_id}/runs/${triggered.body.run_id}`,
  );
});
