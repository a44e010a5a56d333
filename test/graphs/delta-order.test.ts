import { expect, test } from 'vitest';
import { parallelWriters, written } from '../fixtures/graphs/parallel-writers.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { type Memory, memoryOf } from '../support/memory.ts';

async function turn(
  memory: Memory,
  n: number,
  durability: 'async' | 'sync' | 'exit',
  checkpoint_id?: string,
) {
  const graph = parallelWriters().compile({ checkpointer: await memory.run(durability) });
  const configurable = { ...memory.config.configurable, ...(checkpoint_id && { checkpoint_id }) };
  return (await graph.invoke({ turn: n }, { configurable, durability })).names;
}

async function state(memory: Memory) {
  return parallelWriters()
    .compile({ checkpointer: await memory.outside() })
    .getState(memory.config);
}

describeEachDatabase('a delta channel that eight parallel nodes write to', (open) => {
  test.each(['async', 'sync', 'exit'] as const)(
    'keeps the order of its run when it is read again, with durability %s',
    async (durability) => {
      await using db = await open();
      const memory = await memoryOf(db);
      const names = [];
      for (const n of [1, 2, 3]) {
        names.push(...written(n));
        expect(await turn(memory, n, durability)).toEqual(names);
        expect((await state(memory)).values.names).toEqual(names);
      }
    },
  );

  test.each(['async', 'exit'] as const)(
    'contains nothing of the abandoned branch after a fork, with durability %s',
    async (durability) => {
      await using db = await open();
      const memory = await memoryOf(db);
      await turn(memory, 1, durability);
      const { checkpoint_id } = (await state(memory)).config.configurable ?? {};
      await turn(memory, 2, durability);
      const forked = [...written(1), ...written(3)];
      expect(await turn(memory, 3, durability, checkpoint_id)).toEqual(forked);
      expect((await state(memory)).values.names).toEqual(forked);
      expect(await turn(memory, 4, durability)).toEqual([...forked, ...written(4)]);
      expect((await state(memory)).values.names).toEqual([...forked, ...written(4)]);
    },
  );
});
