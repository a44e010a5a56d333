import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { CheckpointNode } from '../../src/schemas/thread-tree.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import type { NewCheckpoint } from '../../src/storage/checkpoints/put.ts';
import { describeEachStorage } from '../support/databases.ts';
import { memoryOf } from '../support/memory.ts';

const AT = '2026-11-20T12:00:00.000Z';

/** A history of the root graph and, at its second step, of a subgraph. */
async function history(db: Db) {
  const memory = await memoryOf(db);
  const checkpoints = checkpointRepository(db);
  const put = (checkpoint_id: string, parent_id: string | null, fields: Partial<NewCheckpoint>) =>
    checkpoints.put(
      { idle_thread_id: memory.thread_id },
      {
        thread_id: memory.thread_id,
        ns: '',
        checkpoint_id,
        parent_id,
        run_id: null,
        checkpoint: JSON.stringify({ v: 4, ts: AT }),
        versions: '{}',
        metadata: JSON.stringify({ source: 'loop', step: Number(checkpoint_id.slice(1)) - 2 }),
        blobs: [],
        ...fields,
      },
      'sync',
    );
  const run_id = randomUUID();
  await put('c1', null, {
    run_id,
    versions: '{"__start__":1}',
    metadata: '{"source":"input","step":-1}',
  });
  await put('c2', 'c1', { run_id, versions: '{"__start__":2,"branch:to:a":2,"messages":2,"log":2}' });
  await put('c3', null, { run_id, ns: 'child:1', versions: '{"log":1}' });
  await put('c4', 'c2', { versions: '{"__start__":2,"messages":3,"log":2,"__root__":3}' });
  await put('c5', 'c2', { versions: '{"__start__":2,"messages":2,"log":3}' });
  return { thread_id: memory.thread_id, checkpoints, run_id };
}

const shapeOf = (nodes: CheckpointNode[]) =>
  nodes.map(({ checkpoint_id, parent_checkpoint_id, changed_channels }) => [
    checkpoint_id,
    parent_checkpoint_id,
    changed_channels,
  ]);

describeEachStorage('the tree of a thread', (open) => {
  test('has each checkpoint with its parent and what it changed', async () => {
    await using db = await open();
    const { thread_id, checkpoints, run_id } = await history(db);
    const tree = await checkpoints.tree({ thread_id, subgraphs: false, limit: 10 });
    expect(shapeOf(tree)).toEqual([
      ['c5', 'c2', ['log']],
      ['c4', 'c2', ['messages', '__root__']],
      ['c2', 'c1', ['messages', 'log']],
      ['c1', null, []],
    ]);
    expect(tree.at(-1)).toEqual({
      checkpoint_id: 'c1',
      nodes: [],
      checkpoint_ns: '',
      parent_checkpoint_id: null,
      step: -1,
      source: 'input',
      run_id,
      created_at: AT,
      changed_channels: [],
    });
    expect(tree[0]).toMatchObject({ run_id: null, step: 3, source: 'loop' });
  });

  test('is read in pages, with subgraphs or without them', async () => {
    await using db = await open();
    const { thread_id, checkpoints } = await history(db);
    const idsOf = async (subgraphs: boolean, after?: { checkpoint_id: string; ns: string }) =>
      (await checkpoints.tree({ thread_id, subgraphs, after, limit: 2 })).map(
        (node) => `${node.checkpoint_ns} ${node.checkpoint_id}`,
      );
    expect(await idsOf(false)).toEqual([' c5', ' c4']);
    expect(await idsOf(false, { checkpoint_id: 'c4', ns: '' })).toEqual([' c2', ' c1']);
    expect(await idsOf(true, { checkpoint_id: 'c4', ns: '' })).toEqual(['child:1 c3', ' c2']);
    expect(await idsOf(true, { checkpoint_id: 'c1', ns: '' })).toEqual([]);
    expect(await checkpoints.tree({ thread_id: randomUUID(), subgraphs: true, limit: 2 })).toEqual([]);
  });

  test('names no changes since a pruned checkpoint', async () => {
    await using db = await open();
    const { thread_id, checkpoints } = await history(db);
    await db.run(
      sql`delete from checkpoints where thread_id = ${thread_id} and checkpoint_id in ('c1', 'c2')`,
    );
    const tree = await checkpoints.tree({ thread_id, subgraphs: false, limit: 10 });
    expect(tree.map(({ changed_channels }) => changed_channels)).toEqual([null, null]);
  });
});
