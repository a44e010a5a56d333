import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { LeaseLost } from '../../src/core/errors.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { runLogRepository } from '../../src/storage/runs/run-logs.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { describeEachStorage } from '../support/databases.ts';
import { attemptOf, claimOne } from '../support/printing-attempts.ts';
import { queueStory, successful } from '../support/queued-runs.ts';

const ALL = 1000;

describeEachStorage('the lines of a run', (open) => {
  test('join the commit of its step, numbered over all attempts', async () => {
    await using db = await open();
    const story = queueStory(db);
    const logs = runLogRepository(db);
    const run_id = await story.add(randomUUID());
    const first = await claimOne(story);
    using one = attemptOf(db, first);
    one.print('a');
    one.print('b');
    expect(await logs.read(run_id, undefined, ALL)).toEqual([]);
    await one.writes.commit();
    one.print('c', 7);
    await story.queue.requeue(first, { charge: true, delay_ms: 0, batch: await one.writes.drain() });
    one.print('too late');

    using two = attemptOf(db, await claimOne(story));
    two.print('d');
    await two.writes.commit();

    const lines = await logs.read(run_id, undefined, ALL);
    expect(lines.map(({ seq, message, attempt }) => [seq, message, attempt])).toEqual([
      [1, 'a', 1],
      [2, 'b', 1],
      [10, 'c', 1],
      [11, 'd', 2],
    ]);
  });

  test('are stored once although the acknowledgement of their commit was lost', async () => {
    await using db = await open();
    const story = queueStory(db);
    const run_id = await story.add(randomUUID());
    const lease = await claimOne(story);
    using attempt = attemptOf(db, lease);
    attempt.print('once');
    const batch = await attempt.writes.drain();
    const again = new WriteBuffer(db, lease, { onCommitted: () => {}, onError: () => {} });
    for (const write of batch.writes) await again.add(write, 'sync');
    await story.queue.finish(lease, successful({ batch }));

    expect(await runLogRepository(db).read(run_id, undefined, ALL)).toHaveLength(1);
  });

  test('of an attempt that lost its lease are not stored', async () => {
    await using db = await open();
    const story = queueStory(db);
    const run_id = await story.add(randomUUID());
    const stale = await claimOne(story);
    using attempt = attemptOf(db, stale);
    await story.queue.requeue(stale, {
      charge: true,
      delay_ms: 0,
      batch: { frames: [], writes: [], steps: [] },
    });
    await claimOne(story);
    attempt.print('stale');

    await expect(attempt.writes.commit()).rejects.toThrow(LeaseLost);
    expect(await runLogRepository(db).read(run_id, undefined, ALL)).toEqual([]);
  });

  test('are limited to the newest thousand, in that many rows', async () => {
    await using db = await open();
    const story = queueStory(db);
    const run_id = await story.add(randomUUID());
    using attempt = attemptOf(db, await claimOne(story));
    for (let line = 1; line <= 5000; line += 1) {
      attempt.print(`line ${line}`);
      if (line % 100 === 0) await attempt.writes.commit();
    }

    const lines = await runLogRepository(db).read(run_id, undefined, ALL);
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 1000 }, (_, index) => 4001 + index));
    expect(lines.at(-1)?.message).toBe('line 5000');
    expect((await stored(db)).commits).toBeLessThanOrEqual(16);
  });

  test('that are long are kept within the byte limit of a run', async () => {
    await using db = await open();
    const story = queueStory(db);
    await story.add(randomUUID());
    using attempt = attemptOf(db, await claimOne(story));
    for (let line = 1; line <= 500; line += 1) {
      attempt.print('ü'.repeat(8000));
      if (line % 10 === 0) await attempt.writes.commit();
    }
    expect((await stored(db)).bytes).toBeLessThan(1024 * 1024);
  });

  test('are deleted with their run, or after their retention', async () => {
    await using db = await open();
    const story = queueStory(db);
    const logs = runLogRepository(db);
    const [running, ended] = [await story.add(randomUUID()), await story.add(randomUUID())];
    for (const run_id of [running, ended]) {
      const lease = await claimOne(story);
      using attempt = attemptOf(db, lease);
      attempt.print('a');
      await attempt.writes.commit();
      if (lease.run_id === ended) await story.queue.finish(lease, successful());
      expect(await logs.read(run_id, undefined, ALL)).toHaveLength(1);
    }

    expect(await logs.deleteExpired(60_000, 10)).toBe(0);
    expect(await logs.deleteExpired(-60_000, 10)).toBe(1);
    expect(await logs.read(ended, undefined, ALL)).toEqual([]);
    await db.run(sql`delete from runs where run_id = ${running}`, 'async');
    expect(await stored(db)).toEqual({ commits: 0, bytes: 0 });
  });
});

async function stored(db: Db): Promise<{ commits: number; bytes: number }> {
  const row = await db.get(sql`
    select count(*) as ${number('commits')}, coalesce(sum(octet_length(data)), 0) as ${number('bytes')} from run_logs`);
  return row ?? { commits: 0, bytes: 0 };
}
