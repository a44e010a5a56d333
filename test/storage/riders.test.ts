import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Conflict } from '../../src/core/errors.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { type Rider, Riders } from '../../src/storage/riders.ts';
import { describeEachStorage } from '../support/databases.ts';
import { newRun, queueStory, request, WORKER } from '../support/queued-runs.ts';

/** Keeps a note about each run that carries one. */
const notes: Rider<string> = {
  name: 'notes',
  admit: async (_tx, _added, note) => (note === 'refuse' ? new Conflict('no') : undefined),
  async enqueued(tx, { run }, note) {
    if (note === 'fail') throw new Error('cannot keep the note');
    if (note) await tx.run(sql`insert into notes (run_id, note) values (${run.run_id}, ${note})`);
  },
};

async function story(db: Db) {
  await db.run(sql`create table notes (run_id text primary key, note text not null)`);
  const queue = queueStory(db, { riders: new Riders([notes]) });
  const add = (note: string | undefined, thread_id: string = randomUUID()) =>
    queue.queue.enqueue({ ...request(newRun(thread_id)), cargo: { notes: note, other: 'fail' } });
  const count = async (table: 'notes' | 'runs') => {
    const row = await db.get(sql`select count(*) as ${number('n')} from ${raw(table)}`);
    return row?.n;
  };
  return { add, count };
}

describeEachStorage('a rider of the queue', (open) => {
  test('writes with the run that carries its cargo, and gets no cargo of others', async () => {
    await using db = await open();
    const { add, count } = await story(db);
    expect(await add('one')).toMatchObject({ outcome: 'queued' });
    expect(await add(undefined)).toMatchObject({ outcome: 'queued' });
    expect(await Promise.all([count('notes'), count('runs')])).toEqual([1, 2]);
  });

  test('refuses a run before anything of it is stored', async () => {
    await using db = await open();
    const { add, count } = await story(db);
    expect(await add('refuse')).toMatchObject({ outcome: 'refused', refusal: { status: 409 } });
    expect(await Promise.all([count('notes'), count('runs')])).toEqual([0, 0]);
  });

  test.each([
    ['follows ends', true, 'one', true],
    ['follows ends, but has no cargo in it', true, undefined, false],
    ['follows none', false, 'one', false],
  ])('hears of the end of a run if it %s', async (_, follows_ends, cargo, announces_end) => {
    await using db = await open();
    const { queue } = queueStory(db, { riders: new Riders([{ name: 'ends', follows_ends }]) });
    await queue.enqueue({ ...request(newRun(randomUUID())), cargo: { ends: cargo, other: 1 } });
    const claim = { worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 };
    expect(await queue.claim(claim)).toMatchObject([{ announces_end }]);
  });

  test('takes the run back with it if it fails', async () => {
    await using db = await open();
    const { add, count } = await story(db);
    await expect(add('fail')).rejects.toThrow('cannot keep the note');
    expect(await Promise.all([count('notes'), count('runs')])).toEqual([0, 0]);
  });
});
