import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { LeaseLost } from '../../src/core/errors.ts';
import { sql } from '../../src/db/sql.ts';
import type { Fence, NewCheckpoint, NewWrites } from '../../src/storage/checkpoints/put.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { describeEachStorage } from '../support/databases.ts';
import { type Memory, memoryOf } from '../support/memory.ts';

function checkpoint(memory: Memory, n: number, fields: Partial<NewCheckpoint> = {}): NewCheckpoint {
  return {
    thread_id: memory.thread_id,
    ns: '',
    checkpoint_id: `c${n}`,
    parent_id: n === 1 ? null : `c${n - 1}`,
    run_id: null,
    checkpoint: '{"v":4}',
    versions: JSON.stringify({ x: n }),
    metadata: JSON.stringify({ step: n, source: n === 1 ? 'input' : 'loop', nested: { tags: ['a', 'b'] } }),
    blobs: [blob('x', n)],
    ...fields,
  };
}

function blob(channel: string, n: number) {
  const value = Buffer.from(JSON.stringify(n));
  return { channel, version: String(n), base_version: null, appends: 0, type: 'json', value };
}

function writes(memory: Memory, task_id: string, idxs: number[], run_id: string | null = null): NewWrites {
  const write = (idx: number) => ({ idx, channel: 'x', type: 'json', value: Buffer.from(String(idx)) });
  return {
    thread_id: memory.thread_id,
    ns: '',
    checkpoint_id: 'c1',
    task_id,
    task_path: '',
    run_id,
    writes: idxs.map(write),
  };
}

async function put(memory: Memory, fence: Fence, ...ns: number[]): Promise<void> {
  for (const n of ns) expect(await memory.checkpoints.put(fence, checkpoint(memory, n), 'sync')).toBe(true);
}

async function nothingIsStored(memory: Memory): Promise<void> {
  for (const table of ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'] as const) {
    expect(await memory.count(table)).toBe(0);
  }
}

describeEachStorage('checkpoints', (open) => {
  test('are read with their values and the writes of their tasks', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    await put(memory, fence, 1);
    await memory.checkpoints.putWrites(fence, writes(memory, 'b', [1, 0]), 'sync');
    await memory.checkpoints.putWrites(fence, writes(memory, 'a', [0, -1]), 'sync');

    const [found, ...more] = await memory.checkpoints.find({ thread_id: memory.thread_id, ns: '', limit: 1 });
    expect(more).toEqual([]);
    expect(found).toMatchObject({ checkpoint_id: 'c1', parent_id: null, checkpoint: '{"v":4}' });
    expect(JSON.parse(found?.metadata ?? '')).toMatchObject({ step: 1, nested: { tags: ['a', 'b'] } });
    expect(Buffer.from(found?.value('x', '1')?.bytes ?? []).toString()).toBe('1');
    expect(found?.value('x', '2')).toBeUndefined();
    expect(found?.writes.map(({ task_id, idx }) => [task_id, idx])).toEqual([
      ['a', -1],
      ['a', 0],
      ['b', 0],
      ['b', 1],
    ]);
  });

  test('are read with the writes of their tasks sorted by path, in the order of code points, then by task', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    await put(memory, fence, 1);
    const paths = { a: '~pull, \u{1f600}', b: '~pull, \ufb01', c: '~pull, n', d: '', e: '~pull, n' };
    for (const [task_id, task_path] of Object.entries(paths))
      await memory.checkpoints.putWrites(fence, { ...writes(memory, task_id, [0]), task_path }, 'sync');

    const [found] = await memory.checkpoints.find({ thread_id: memory.thread_id });
    expect(found?.writes.map(({ task_id }) => task_id)).toEqual(['d', 'c', 'e', 'b', 'a']);
    expect(found?.writes.at(-1)?.task_path).toBe(paths.a);
  });

  test('are listed newest first and filtered by each condition', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    await put(memory, fence, 1, 2, 3);
    await memory.checkpoints.put(fence, checkpoint(memory, 4, { ns: 'child', parent_id: null }), 'sync');
    const ids = async (query: object) =>
      (await memory.checkpoints.find({ thread_id: memory.thread_id, ...query })).map(
        (row) => row.checkpoint_id,
      );

    expect(await ids({})).toEqual(['c4', 'c3', 'c2', 'c1']);
    expect(await ids({ ns: '' })).toEqual(['c3', 'c2', 'c1']);
    expect(await ids({ ns: '', limit: 2 })).toEqual(['c3', 'c2']);
    expect(await ids({ ns: '', before_id: 'c3', limit: 1 })).toEqual(['c2']);
    expect(await ids({ checkpoint_id: 'c2' })).toEqual(['c2']);
    expect(await ids({ metadata: { source: 'input' } })).toEqual(['c1']);
    expect(await ids({ metadata: { step: 2, nested: { tags: ['b'] } } })).toEqual(['c2']);
    expect(await ids({ metadata: {}, limit: 0 })).toEqual([]);
    expect(await ids({ thread_id: 'another' })).toEqual([]);
  });

  test('keep the first of two writes at one index, and the last of a special write', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    await put(memory, fence, 1);
    const request = writes(memory, 'a', [0, -3]);
    const again = request.writes.map((write) => ({ ...write, value: Buffer.from('again') }));
    await memory.checkpoints.putWrites(fence, request, 'sync');
    await memory.checkpoints.putWrites(fence, { ...request, writes: again }, 'sync');
    const [found] = await memory.checkpoints.find({ checkpoint_id: 'c1' });
    expect(found?.writes.map(({ idx, value }) => [idx, Buffer.from(value).toString()])).toEqual([
      [-3, 'again'],
      [0, '0'],
    ]);
  });

  test('very many writes of one task are stored in full', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    await put(memory, fence, 1);
    const idxs = Array.from({ length: 5000 }, (_, idx) => idx);
    await memory.checkpoints.putWrites(fence, writes(memory, 'a', idxs), 'sync');
    expect((await memory.checkpoints.find({ checkpoint_id: 'c1' }))[0]?.writes).toHaveLength(5000);
  });

  test('repeating a write changes nothing', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    await put(memory, fence, 1, 1, 2, 2);
    expect([await memory.count('checkpoints'), await memory.count('checkpoint_blobs')]).toEqual([2, 2]);
  });

  test('an attempt whose run was claimed by another worker, rolled back or ended writes nothing', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const lease = await memory.begin();
    const refused = async (by: Lease) => {
      const fence = () => ({ attempt: memory.writes(by) });
      const { checkpoints, thread_id } = memory;
      await expect(checkpoints.put(fence(), checkpoint(memory, 1), 'sync')).rejects.toThrow(LeaseLost);
      await expect(checkpoints.putWrites(fence(), writes(memory, 'a', [0]), 'sync')).rejects.toThrow(
        LeaseLost,
      );
      await expect(checkpoints.deleteThread(fence(), thread_id)).rejects.toThrow(LeaseLost);
      await nothingIsStored(memory);
    };
    await refused({ ...lease, token: randomUUID() });
    await db.run(sql`update run_queue set cancel_action = 'rollback' where run_id = ${lease.run_id}`);
    await refused(lease);
    await memory.end();
    await refused(lease);
  });

  test('an interrupted run may still write its last steps', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const lease = await memory.begin();
    await db.run(sql`update run_queue set cancel_action = 'interrupt' where run_id = ${lease.run_id}`);
    await put(memory, { attempt: memory.writes(lease) }, 1);
  });

  test('are not written outside of runs while a run is in flight, or when the thread is deleted', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { idle_thread_id: memory.thread_id };
    for (const state of ['running', 'ready', 'blocked', 'scheduled']) {
      await memory.begin();
      await db.run(sql`update run_queue set state = ${state} where thread_id = ${memory.thread_id}`);
      expect(await memory.checkpoints.put(fence, checkpoint(memory, 1), 'sync')).toBe(false);
      expect(await memory.checkpoints.putWrites(fence, writes(memory, 'a', [0]), 'sync')).toBe(false);
    }
    await nothingIsStored(memory);
    await memory.end();
    await put(memory, fence, 1, 2);
    const orphan = checkpoint(memory, 9);
    expect(await memory.checkpoints.put(fence, orphan, 'sync')).toBe(false);
    await db.run(sql`delete from threads where thread_id = ${memory.thread_id}`);
    expect(await memory.checkpoints.put(fence, checkpoint(memory, 3), 'sync')).toBe(false);
  });

  test('that cannot be stored leave none of their values', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    const broken = { ...checkpoint(memory, 1), metadata: null as unknown as string };
    await expect(memory.checkpoints.put(fence, broken, 'sync')).rejects.toThrow();
    await nothingIsStored(memory);
  });

  test('have only their own branch of a fork as ancestors', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const fence = { attempt: memory.writes(await memory.begin()) };
    await put(memory, fence, 1, 2, 3, 4);
    await memory.checkpoints.put(fence, checkpoint(memory, 5, { parent_id: 'c2' }), 'sync');
    const of = async (checkpoint_id: string, limit: number) => {
      const at = { thread_id: memory.thread_id, ns: '', checkpoint_id };
      const found = await memory.checkpoints.ancestors({ ...at, channels: ['x'], limit });
      return found.map((row) => row.checkpoint_id);
    };
    expect(await of('c4', 10)).toEqual(['c3', 'c2', 'c1']);
    expect(await of('c5', 10)).toEqual(['c2', 'c1']);
    expect(await of('c4', 2)).toEqual(['c3', 'c2']);
    expect(await of('c1', 10)).toEqual([]);
    expect(await of('c9', 10)).toEqual([]);
  });
});
