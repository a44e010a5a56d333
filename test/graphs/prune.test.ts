import { HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  DeltaChannel,
  interrupt,
  type MessagesAnnotation,
  messagesDeltaReducer,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { number } from '../../src/db/columns.ts';
import { sql } from '../../src/db/sql.ts';
import { pruneThread } from '../../src/storage/threads/delete.ts';
import { threadSize } from '../../src/storage/threads/size.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { type Memory, memoryOf } from '../support/memory.ts';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

/** A subgraph that asks, behind a node that says what it was told. */
function asking(checkpointer: BaseCheckpointSaver) {
  const child = new StateGraph(State)
    .addNode('before', () => ({ log: ['before'] }))
    .addNode('ask', () => ({ log: [`answer ${interrupt('ok?')}`] }))
    .addEdge(START, 'before')
    .addEdge('before', 'ask')
    .compile();
  return new StateGraph(State)
    .addNode('child', async ({ log }, config) => ({
      log: (await child.invoke({ log: [] }, config)).log.map((line) => `${log.length}: ${line}`),
    }))
    .addEdge(START, 'child')
    .compile({ checkpointer });
}

function deltaChat(checkpointer: BaseCheckpointSaver) {
  const messages = () => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency: 5 });
  return new StateGraph(Annotation.Root({ messages: messages as never }) as typeof MessagesAnnotation)
    .addNode('answer', ({ messages: said }) => ({
      messages: [new HumanMessage({ id: `a${said.length}`, content: '!' })],
    }))
    .addEdge(START, 'answer')
    .compile({ checkpointer });
}

async function countOf(
  { db, thread_id }: Memory,
  table: 'checkpoints' | 'checkpoint_blobs',
): Promise<number> {
  const size = await threadSize(db, thread_id);
  return table === 'checkpoints' ? size.checkpoints.count : size.channel_values.count;
}

describeEachDatabase('pruning a thread', (open) => {
  test('keeps only the newest checkpoint, and an interrupt in a subgraph can still be answered', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    for (const word of ['one', 'two']) {
      await asking(await memory.run()).invoke({ log: [word] }, memory.config);
      if (word === 'one')
        await asking(await memory.run()).invoke(new Command({ resume: word }), memory.config);
    }
    await memory.end();
    const before = await asking(await memory.outside()).getState(memory.config);

    expect(await pruneThread(db, memory.thread_id)).toBe(true);

    // The graph's own and that of the subgraph's call that waits.
    expect(await countOf(memory, 'checkpoints')).toBe(2);
    const after = await asking(await memory.outside()).getState(memory.config);
    expect({ ...after, parentConfig: undefined }).toEqual({ ...before, parentConfig: undefined });
    const resumed = await asking(await memory.run()).invoke(new Command({ resume: 'two' }), memory.config);
    expect(resumed.log).toEqual(['one', '1: before', '1: answer one', 'two', '4: before', '4: answer two']);
  });

  test('keeps the writes that delta channels are rebuilt from', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    for (let turn = 0; turn < 8; turn++) {
      const said = { messages: [new HumanMessage({ id: `h${turn}`, content: '?' })] };
      await deltaChat(await memory.run()).invoke(said, memory.config);
    }
    await memory.end();
    const before = await countOf(memory, 'checkpoints');

    await pruneThread(db, memory.thread_id);

    expect(await countOf(memory, 'checkpoints')).toBeLessThan(before);
    const { values } = await deltaChat(await memory.outside()).getState(memory.config);
    expect(values.messages).toHaveLength(16);
  });

  test('waits until no run is in flight, and does nothing without a history', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await asking(await memory.run()).invoke({ log: ['one'] }, memory.config);
    expect(await pruneThread(db, memory.thread_id)).toBe(false);
    await memory.end();
    expect(await pruneThread(db, memory.thread_id)).toBe(true);
    expect(await pruneThread(db, crypto.randomUUID())).toBe(true);
  });

  test('frees as many bytes as it reports', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    for (const word of ['one', 'two', 'three']) {
      await asking(await memory.run()).invoke({ log: [word.repeat(50)] }, memory.config);
    }
    await memory.end();
    const before = await threadSize(db, memory.thread_id);
    await pruneThread(db, memory.thread_id);
    const after = await threadSize(db, memory.thread_id);
    expect(after.total_bytes).toBeLessThan(before.total_bytes / 2);
    const rows = await db.get(sql`select sum(octet_length(value)) as ${number('bytes')}
      from checkpoint_blobs where thread_id = ${memory.thread_id}`);
    expect(after.channel_values.bytes).toBe(Number(rows?.bytes));
    expect(Object.keys(after.channel_values.by_channel)).toContain('log');
  });
});
