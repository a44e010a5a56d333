import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { CronSearch } from '../../src/schemas/crons.ts';
import { type CronRepository, cronRepository } from '../../src/storage/crons/crons.ts';
import type { StoredCron } from '../../src/storage/crons/row.ts';
import { describeEachStorage } from '../support/databases.ts';
import { AT, storedCron } from '../support/stored-crons.ts';

/** Crons whose metadata has their number. */
/** Their ids. */
async function numbered(crons: CronRepository, ...each: Partial<StoredCron>[]): Promise<string[]> {
  const made = each.map((fields, n) => storedCron({ ...fields, metadata: { n, ...fields.metadata } }));
  for (const one of made) await crons.insert(one);
  return made.map(({ cron_id }) => cron_id);
}

async function found(crons: CronRepository, query: object, owner?: string): Promise<unknown[]> {
  const visibility = owner === undefined ? undefined : { metadata: { contains: { owner } } };
  const rows = await crons.search(CronSearch.parse(query), visibility);
  return rows.map(({ metadata }) => metadata['n']);
}

describeEachStorage('crons', (open) => {
  test('that have ended are deleted with their last outcomes, others never', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    const ended = { next_run_date: null, updated_at: '2026-05-01T12:00:00.000Z' };
    const [, paused, changed, fired, active] = await numbered(
      crons,
      ended,
      { ...ended, enabled: false },
      { ...ended, updated_at: AT },
      ended,
      { updated_at: ended.updated_at },
    );
    await db.run(sql`insert into cron_fires (cron_id, tick, outcome, fired_at)
      values (${fired as string}, ${AT}, 'skipped', ${AT})`);
    expect(await crons.deleteEnded('2026-05-15T00:00:00.000Z', 10)).toBe(1);
    const left = await crons.search(CronSearch.parse({ sort_by: 'cron_id' }));
    expect(left.map(({ cron_id }) => cron_id).sort()).toEqual([paused, changed, fired, active].sort());
  });

  test('are read as they were stored', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    const stored = storedCron({
      thread_id: randomUUID(),
      end_time: '2030-01-01T00:00:00',
      ends_at: '2030-01-01T00:00:00.000Z',
      timezone: 'Asia/Kathmandu',
      payload: { input: { text: 'ünïcode 😀' }, z: 1, a: [null] },
      metadata: { deep: { list: [1, 'a'] } },
      on_run_completed: null,
      enabled: false,
      disabled_reason: 'gone',
      run_as: { identity: 'ada', permissions: [] },
      user_id: 'ada',
    });
    await crons.insert(stored);
    expect(await crons.get(stored.cron_id)).toEqual(stored);
    expect(await crons.get(randomUUID())).toBeUndefined();
  });

  test('are sorted by each field in both directions, with those without it last', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    await numbered(
      crons,
      { next_run_date: null, ends_at: '2027-01-01T00:00:00.000Z', created_at: '2026-01-03T00:00:00.000Z' },
      { next_run_date: '2026-06-02T00:00:00.000Z', created_at: '2026-01-01T00:00:00.000Z' },
      { next_run_date: '2026-06-01T00:00:00.000Z', created_at: '2026-01-02T00:00:00.000Z' },
    );
    expect(await found(crons, {})).toEqual([0, 2, 1]);
    expect(await found(crons, { sort_order: 'asc' })).toEqual([1, 2, 0]);
    expect(await found(crons, { sort_by: 'next_run_date', sort_order: 'asc' })).toEqual([2, 1, 0]);
    expect(await found(crons, { sort_by: 'next_run_date' })).toEqual([1, 2, 0]);
    expect((await found(crons, { sort_by: 'end_time' }))[0]).toBe(0);
    expect((await found(crons, { sort_by: 'end_time', sort_order: 'asc' }))[0]).toBe(0);
    expect(await found(crons, { limit: 1, offset: 1 })).toEqual([2]);
  });

  test('are found by contained metadata, and only by users who may see them', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    await numbered(
      crons,
      { metadata: { owner: 'ada', tags: ['a', 'b'] } },
      { metadata: { owner: 'eve', tags: ['a'] } },
      { metadata: { owner: 'ada' }, enabled: false },
    );
    const query = { sort_by: 'created_at', sort_order: 'asc' };
    expect(new Set(await found(crons, { ...query, metadata: { tags: ['a'] } }))).toEqual(new Set([0, 1]));
    expect(await found(crons, { metadata: { tags: ['a'] } }, 'ada')).toEqual([0]);
    expect(await found(crons, { enabled: false }, 'ada')).toEqual([2]);
    expect(await crons.count({}, { metadata: { contains: { owner: 'eve' } } })).toBe(1);

    const [of] = await crons.search(CronSearch.parse({ metadata: { owner: 'eve' } }));
    const cron_id = String(of?.cron_id);
    const ada = { metadata: { contains: { owner: 'ada' } } };
    expect(await crons.get(cron_id, ada)).toBeUndefined();
    expect(await crons.update(cron_id, (stored) => ({ ...stored, enabled: false }), ada)).toBeUndefined();
    expect(await crons.delete(cron_id, ada)).toBe(false);
    expect((await crons.get(cron_id))?.enabled).toBe(true);
  });

  test('are updated one after the other', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    const stored = storedCron({ metadata: { n: 0 } });
    await crons.insert(stored);
    const increment = () =>
      crons.update(stored.cron_id, (now) => ({ ...now, metadata: { n: Number(now.metadata['n']) + 1 } }));
    await Promise.all(Array.from({ length: 20 }, increment));
    expect((await crons.get(stored.cron_id))?.metadata).toEqual({ n: 20 });
  });

  test('are due by their date, the longest overdue first', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    expect(await crons.nextDue()).toBeUndefined();
    const ids = await numbered(
      crons,
      { next_run_date: '2026-06-01T10:00:00.000Z' },
      { next_run_date: '2026-06-01T09:00:00.000Z' },
      { next_run_date: '2026-06-01T12:00:00.001Z' },
      { next_run_date: null },
    );
    const due = async (limit: number) =>
      (await crons.due(AT, undefined, limit)).map(({ cron_id }) => ids.indexOf(cron_id));
    expect(await due(10)).toEqual([1, 0]);
    expect(await due(1)).toEqual([1]);
    expect(await crons.nextDue()).toBe('2026-06-01T09:00:00.000Z');
    expect(await crons.stats(AT)).toEqual({ n_crons: 3, n_overdue_crons: 2 });
  });

  test('that are due are listed page by page, each once, even with equal dates', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    const dates = ['2026-06-01T10:00:00.000Z', '2026-06-01T10:00:00.000Z', '2026-06-01T10:00:00.000Z'];
    await numbered(
      crons,
      ...[...dates, '2026-06-01T09:00:00.000Z'].map((next_run_date) => ({ next_run_date })),
    );
    const whole = await crons.due(AT, undefined, 10);
    const first = await crons.due(AT, undefined, 2);
    expect(first).toHaveLength(2);
    expect([...first, ...(await crons.due(AT, first.at(-1), 10))]).toEqual(whole);
    expect(await crons.due(AT, whole.at(-1), 10)).toEqual([]);
  });

  test('are moved or disabled only if their date has not changed in the meantime', async () => {
    await using db = await open();
    const crons = cronRepository(db);
    const stored = storedCron();
    await crons.insert(stored);
    await crons.reschedule(stored, '2026-06-01T14:00:00.000Z');
    await crons.reschedule(stored, '2026-06-01T15:00:00.000Z');
    expect(await crons.disable(stored, 'gone', AT)).toBe(false);
    const now = await crons.get(stored.cron_id);
    expect(now).toMatchObject({ next_run_date: '2026-06-01T14:00:00.000Z', enabled: true });
    expect(now && (await crons.disable(now, 'gone', AT))).toBe(true);
    expect(await crons.get(stored.cron_id)).toMatchObject({ enabled: false, disabled_reason: 'gone' });
  });
});
