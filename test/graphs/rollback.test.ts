import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  interrupt,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { deleteCheckpointsOfRun, deleteCheckpointsOfThread } from '../../src/storage/checkpoints/delete.ts';
import { copyCheckpoints } from '../../src/storage/checkpoints/put.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { type Memory, memoryOf } from '../support/memory.ts';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

function entry(text: string): { log: string[] } {
  return { log: [`${text} ${'.'.repeat(200)}`] };
}

/** Writes down what it was told. */
function notes(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode('noted', () => entry('noted'))
    .addEdge(START, 'noted')
    .compile({ checkpointer });
}

/** Asks in two parallel tasks, each of which may ask again. */
function questions(checkpointer: BaseCheckpointSaver) {
  const Question = Annotation.Root({ ...State.spec, name: Annotation<string>() });
  return new StateGraph(Question)
    .addNode('ask', ({ name }) => ({
      log: [`${name}: ${interrupt(`${name}?`)} ${interrupt(`${name} again?`)}`],
    }))
    .addConditionalEdges(START, () => [new Send('ask', { name: 'left' }), new Send('ask', { name: 'right' })])
    .compile({ checkpointer });
}

async function execute(memory: Memory, text: string, config: object = memory.config): Promise<Lease> {
  const lease = await memory.begin();
  await notes(memory.of(lease)).invoke(entry(text), config);
  await memory.end();
  return lease;
}

function remove(memory: Memory, { run_id }: Lease): Promise<void> {
  return memory.db.transaction('sync', (tx) => deleteCheckpointsOfRun(tx, memory.thread_id, run_id));
}

/** Everything that is stored, but for who wrote it. */
async function everything(memory: Memory): Promise<unknown[]> {
  const { db, thread_id } = memory;
  return [
    await db.all(sql`select ns, checkpoint_id, versions, metadata from checkpoints where thread_id = ${thread_id}
      order by checkpoint_id`),
    await db.all(sql`select channel, version, base_version, value from checkpoint_blobs where thread_id = ${thread_id}
      order by channel, version`),
    await db.all(sql`select checkpoint_id, task_id, idx, channel, value, superseded_by from checkpoint_writes
      where thread_id = ${thread_id} order by checkpoint_id, task_id, idx, superseded_by`),
  ];
}

async function logOf(memory: Memory): Promise<string[]> {
  const { values } = await notes(await memory.outside()).getState(memory.config);
  return (values.log ?? []).map((line: string) => line.split(' ')[0]);
}

describeEachDatabase('rolling back a run', (open) => {
  test('restores exactly the state before it', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await execute(memory, 'one');
    const before = await everything(memory);
    const second = await execute(memory, 'two');
    expect(await logOf(memory)).toEqual(['one', 'noted', 'two', 'noted']);
    await remove(memory, second);
    expect(await everything(memory)).toEqual(before);
    expect(await logOf(memory)).toEqual(['one', 'noted']);
  });

  test('leaves an empty thread if it was the only run', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await remove(memory, await execute(memory, 'one'));
    expect(await everything(memory)).toEqual([[], [], []]);
  });

  test('keeps checkpoints that a later run continues from', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const first = await execute(memory, 'one');
    await execute(memory, 'two');
    const before = await everything(memory);
    await remove(memory, first);
    expect(await everything(memory)).toEqual(before);
  });

  test('removes a branch without successors and keeps the other', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await execute(memory, 'one');
    const fork = (await notes(await memory.outside()).getState(memory.config)).config;
    const left = await execute(memory, 'left', fork);
    await execute(memory, 'right', fork);
    await remove(memory, left);
    expect(await logOf(memory)).toEqual(['one', 'noted', 'right', 'noted']);
    const history = await Array.fromAsync(
      notes(await memory.outside()).getStateHistory(memory.config, { limit: 50 }),
    );
    expect(JSON.stringify(history)).not.toContain('left');
  });

  test('waits while another run executes', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const first = await execute(memory, 'one');
    const before = await everything(memory);
    await memory.begin();
    await remove(memory, first);
    expect(await everything(memory)).toEqual(before);
  });

  test('restores the interrupts that the run had answered or raised again', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await questions(await memory.run()).invoke({}, memory.config);
    const asked = async () =>
      (await questions(await memory.outside()).getState(memory.config)).tasks.flatMap(
        (task) => task.interrupts,
      );
    const [left, right] = await asked();
    expect([left?.value, right?.value]).toEqual(['left?', 'right?']);
    await memory.end();
    const before = await everything(memory);

    const lease = await memory.begin();
    const resume = { [left?.id as string]: 'yes' };
    await questions(memory.of(lease)).invoke(new Command({ resume }), memory.config);
    expect((await asked()).map(({ value }) => value)).toEqual(['left again?', 'right?']);
    await memory.end();
    await remove(memory, lease);
    expect(await everything(memory)).toEqual(before);
    expect((await asked()).map(({ value }) => value)).toEqual(['left?', 'right?']);
  });

  test('leaves a copy of the thread unchanged', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const only = await execute(memory, 'one');
    const copy = await memoryOf(db);
    await db.transaction('sync', (tx) => copyCheckpoints(tx, memory.thread_id, copy.thread_id));
    await remove(memory, only);
    await execute(copy, 'two');
    expect(await logOf(copy)).toEqual(['one', 'noted', 'two', 'noted']);
    const [newest] = await copy.checkpoints.find({ thread_id: copy.thread_id });
    expect(JSON.parse(newest?.metadata ?? '')).toMatchObject({ thread_id: copy.thread_id });
    await db.transaction('sync', async (tx) => deleteCheckpointsOfThread(tx, copy.thread_id));
    expect(await everything(copy)).toEqual([[], [], []]);
  });
});
