import { expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { type DialectSql, type Sql, sql } from '../../src/db/sql.ts';
import { NOW, nowPlus } from '../../src/db/time.ts';
import { MAX_DELAY_S, MAX_TTL_MINUTES } from '../../src/schemas/numbers.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { queueStory } from '../support/queued-runs.ts';
import { at, freshThread, newState, threadId } from '../support/stored-threads.ts';

const MINUTE_MS = 60_000;

/** Every bound of a time that is added to another, ms; and times that are next to nothing. */
const SPANS = [
  MAX_TTL_MINUTES * MINUTE_MS,
  -MAX_TTL_MINUTES * MINUTE_MS,
  MAX_DELAY_S * 1000,
  -MAX_DELAY_S * 1000,
  876_000 * 3_600_000,
  0.001,
  1e-7,
  -1e-7,
];

describeEachDatabase('the largest times', (open) => {
  test.each(SPANS)('%d ms from now is a valid date', async (ms) => {
    await using db = await open({ migrated: false });
    const read = async (time: Sql | DialectSql) =>
      (await db.get(sql`select ${time} as ${text('at')}`))?.at as string;
    const [before, at, after] = [await read(NOW), await read(nowPlus(ms)), await read(NOW)];
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    // Engines keep whole milliseconds.
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Math.floor(Date.parse(before) + ms));
    expect(Date.parse(at)).toBeLessThanOrEqual(Math.ceil(Date.parse(after) + ms));
  });

  test.each([MAX_TTL_MINUTES, -MAX_TTL_MINUTES])('a thread may live for %d minutes', async (ttl) => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), { strategy: 'keep_latest', ttl });
    const expected = {
      strategy: 'keep_latest',
      ttl_minutes: ttl,
      expires_at: expect.stringMatching(/^\d{4}-/),
    };
    expect(await threads.expiry(threadId(1))).toEqual(expected);
    // Its time starts again with each state.
    await threads.setState(threadId(1), newState({ n: 1 }), at(2));
    expect(await threads.expiry(threadId(1))).toEqual(expected);
  });

  test('a run may be due in a hundred years', async () => {
    await using db = await open();
    const { add, queue } = queueStory(db);
    await add(threadId(1), { order: { delay_ms: MAX_DELAY_S * 1000 } });
    expect((await queue.nextDue()).next?.due_at).toMatch(/^2\d{3}-/);
  });
});
