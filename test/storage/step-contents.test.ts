import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { timestamp } from '../../src/core/clock.ts';
import { columns, number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { cutMessages, type RecordedContents } from '../../src/schemas/step-contents.ts';
import { ActiveAttempts } from '../../src/storage/runs/active-attempts.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { runStepRepository } from '../../src/storage/runs/steps.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachStorage } from '../support/databases.ts';
import { modelCall } from '../support/model-call.ts';
import { attemptWrites, queueStory, successful, WORKER } from '../support/queued-runs.ts';
import { freshThread, threadId } from '../support/stored-threads.ts';

const message = (content: string) => JSON.stringify({ role: 'user', content });

/** The contents of a call with these messages, all of them with their texts. */
function given(...texts: string[]): RecordedContents {
  const messages = texts.map(message);
  return {
    messages,
    texts: Object.fromEntries(messages.map((text) => [text, text])),
    parameters: '{"seed":1}',
  };
}

/** Of the last run, epoch ms. */
let created = Date.parse('2026-01-01');

/** Executes a run of the thread whose calls are given these. */
async function ran(db: Db, thread_id: string, ...calls: RecordedContents[]): Promise<Lease> {
  const { add, queue } = queueStory(db);
  const run_id = await add(thread_id);
  created += 1;
  await db.run(sql`update runs set created_at = ${timestamp(created)} where run_id = ${run_id}`);
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const { lease } = claimed!;
  using writes = attemptWrites(db, lease);
  writes.addSteps(calls.map((recorded, n) => ({ ...modelCall(n + 1, 10), recorded })));
  await queue.finish(lease, { ...successful(), batch: await writes.drain() });
  return lease;
}

const steps = (db: Db) => runStepRepository(db, new ActiveAttempts());
const read = async (db: Db, lease: Lease, number = 1) =>
  (await steps(db).step(lease, { attempt: 1, number }))?.contents;

async function count(db: Db, table: string): Promise<number> {
  const row = await db.get(sql`select count(*) as ${number('n')} from ${raw(table)}`);
  return row?.n ?? 0;
}

/** Of the SQLite file; 0 on PostgreSQL. */
async function pages(db: Db): Promise<number> {
  if (db.dialect === 'postgres') return 0;
  return (await db.get(sql`select page_count as ${number('n')} from pragma_page_count`))?.n ?? 0;
}

describeEachStorage('the contents of steps', (open) => {
  test('are read as they were given, and a message that calls of a thread repeat is stored once', async () => {
    await using db = await open();
    const first = await ran(db, threadId(1), given('a', 'b'), given('a', 'b', 'c'));
    const second = await ran(db, threadId(1), given('a', 'b', 'c', 'a'));
    expect(await read(db, first, 2)).toEqual({
      shared: { messages: ['a', 'b', 'c'].map(message) },
      own: '{"parameters":{"seed":1}}',
      previous: {
        run_id: first.run_id,
        attempt: 1,
        number: 1,
        messages: 2,
        repeated: 2,
        has_same_tools: true,
      },
    });
    expect(await read(db, second)).toMatchObject({
      shared: { messages: ['a', 'b', 'c', 'a'].map(message) },
      previous: { run_id: first.run_id, number: 2, messages: 3, repeated: 3 },
    });
    expect((await read(db, first))?.previous).toBeUndefined();
    expect(await count(db, 'step_texts')).toBe(3);
    await ran(db, threadId(2), given('a'));
    expect(await count(db, 'step_texts')).toBe(4);
  });

  test('of calls whose middle was cut do not tell how many messages they share, but for the beginning', async () => {
    await using db = await open();
    const cut = (count: number, ...rest: string[]): RecordedContents => {
      const whole = given('a', ...rest);
      const note = cutMessages(count);
      const [first = '', ...others] = whole.messages ?? [];
      return { ...whole, messages: [first, note, ...others], texts: { ...whole.texts, [note]: note } };
    };
    const first = await ran(db, threadId(1), given('a', 'b'), cut(1, 'c'), cut(2, 'd'), cut(2, 'd', 'e'));
    const shared = async (number: number) => (await read(db, first, number))?.previous?.repeated;
    expect([await shared(2), await shared(3), await shared(4)]).toEqual([null, null, 3]);
    const other = await ran(db, threadId(1), given('z', 'b'));
    expect((await read(db, other))?.previous?.repeated).toBe(0);
  });

  test('of any length are read as they were given, and take little more than their length', async () => {
    await using db = await open();
    const long = (n: number) => ({ output: JSON.stringify(String(n).padEnd(700, 'x')) });
    const before = await pages(db);
    const lease = await ran(db, threadId(1), ...Array.from({ length: 200 }, (_, n) => long(n)));
    expect((await read(db, lease, 200))?.own).toBe(`{"output":${long(199).output}}`);
    expect((await read(db, lease, 200))?.shared).toEqual({});
    // Four of them on a page, also encrypted.
    expect(await pages(db)).toBeLessThan(before + 150);
  });

  test('are stored once if the batch is stored again', async () => {
    await using db = await open();
    const { add, queue } = queueStory(db);
    await add(threadId(1));
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const { lease } = claimed!;
    for (const _ of [1, 2]) {
      using writes = attemptWrites(db, lease);
      writes.addSteps([{ ...modelCall(1, 10), recorded: given('a') }]);
      await writes.add(async () => {}, 'sync');
    }
    expect([await count(db, 'step_texts'), await count(db, 'run_steps')]).toEqual([1, 1]);
    expect(await read(db, lease)).toMatchObject({ shared: { messages: [message('a')] } });
  });

  test('go with their run, but for what another run of the thread has', async () => {
    await using db = await open();
    const first = await ran(db, threadId(1), given('a', 'b'));
    const second = await ran(db, threadId(1), given('b', 'c'));
    await queueStory(db).queue.deleteRun(first.thread_id, first.run_id);
    expect(await read(db, second)).toMatchObject({ shared: { messages: ['b', 'c'].map(message) } });
    expect(await count(db, 'step_texts')).toBe(2);
    await queueStory(db).queue.deleteRun(second.thread_id, second.run_id);
    expect([await count(db, 'step_texts'), await count(db, 'run_steps')]).toEqual([0, 0]);
  });

  test('of a run with more steps than are read at once go with it too', async () => {
    await using db = await open();
    const calls = Array.from({ length: 1100 }, (_, n) => given('first', `call ${n}`));
    const many = await ran(db, threadId(1), ...calls);
    const other = await ran(db, threadId(1), given('first', 'call 3', 'call 1050', 'own'));
    await queueStory(db).queue.deleteRun(many.thread_id, many.run_id);
    expect(await read(db, other)).toMatchObject({
      shared: { messages: ['first', 'call 3', 'call 1050', 'own'].map(message) },
    });
    expect(await count(db, 'step_texts')).toBe(4);
  });

  test('go with their thread, also if they are large, and with its history when that is pruned', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const long = (n: number) => ({ input: JSON.stringify(String(n).padEnd(60_000, 'x')) });
    await ran(db, threadId(1), given('a'), ...Array.from({ length: 100 }, (_, n) => long(n)));
    const pruned = await ran(db, threadId(2), given('b'), long(1));
    await threads.delete(threadId(1));
    expect([await count(db, 'step_texts'), await count(db, 'run_steps')]).toEqual([2, 2]);
    expect(await threads.prune(threadId(2))).toBe(true);
    expect(await read(db, pruned, 2)).toBeUndefined();
    expect([await count(db, 'step_texts'), await count(db, 'run_steps')]).toEqual([0, 2]);
  });

  test('go with the history of a thread that expires and keeps its newest checkpoint', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), { strategy: 'keep_latest', ttl: 0 });
    const expired = await ran(db, threadId(1), given('a'));
    expect(await threads.expire(10)).toMatchObject({ expired: 1, failed: [] });
    expect(await read(db, expired)).toBeUndefined();
    expect([await count(db, 'step_texts'), await count(db, 'run_steps')]).toEqual([0, 1]);
  });

  test('are in the database without secrets, and encrypted if it is', async () => {
    await using db = await open();
    const contents = { ...given('use sk-abcdefghijklmnop'), input: '"needle"' };
    const lease = await ran(db, threadId(1), contents);
    expect(await read(db, lease)).toMatchObject({ shared: { messages: [message('use sk-***')] } });
    const rows = JSON.stringify([
      await db.all(sql`select ${columns('step_texts', 'hash, data')} from step_texts`),
      await db.all(sql`select ${columns('run_steps', 'contents')} from run_steps`),
    ]);
    expect(rows).not.toContain('abcdefghijklmnop');
    expect(rows.includes('needle')).toBe(!db.cipher.enabled);
  });

  test('of an earlier step of the attempt that was not kept are named as missing', async () => {
    await using db = await open();
    const lease = await ran(db, threadId(1), { messages: ['unknown'] });
    expect(await read(db, lease)).toMatchObject({
      shared: { messages: [expect.stringContaining('not kept')] },
    });
  });
});
