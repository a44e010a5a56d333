import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  type BaseCheckpointSaver,
  DeltaChannel,
  MessagesAnnotation,
  messagesDeltaReducer,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { sql } from '../../src/storage/sql.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { type Memory, memoryOf } from '../support/memory.ts';

const TURNS = 100;

function said(n: number): HumanMessage {
  return new HumanMessage({ id: `h${n}`, content: `question ${n} ${'?'.repeat(50)}` });
}

function answered({ messages }: { messages: BaseMessage[] }): { messages: BaseMessage[] } {
  const n = messages.length;
  return {
    messages: [new AIMessage({ id: `a${n}`, content: `answer ${n} ${'!'.repeat(100 + (n % 7) * 40)}` })],
  };
}

function chat(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('answer', answered)
    .addEdge(START, 'answer')
    .compile({ checkpointer });
}

/** The same conversation on a channel that LangGraph itself stores as what was written to it. */
function deltaChat(checkpointer: BaseCheckpointSaver) {
  const messages = () => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency: 5 });
  return new StateGraph(Annotation.Root({ messages: messages as never }) as typeof MessagesAnnotation)
    .addNode('answer', answered)
    .addEdge(START, 'answer')
    .compile({ checkpointer });
}

async function bytes({ db, thread_id }: Memory): Promise<number> {
  const row = await db.get<{ bytes: number }>(sql`select sum(length(value)) as bytes from checkpoint_blobs
    where thread_id = ${thread_id} and channel = 'messages'`);
  return Number(row?.bytes);
}

describeEachDatabase('a long conversation', (open) => {
  test('takes at most twice the room of what was said, and each of its states can be read', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    for (let turn = 0; turn < TURNS; turn++) {
      await chat(await memory.run()).invoke({ messages: [said(turn)] }, memory.config);
    }
    const outside = await memory.outside();
    const newest = await outside.getTuple(memory.config);
    const messages = newest?.checkpoint.channel_values.messages as BaseMessage[];
    expect(messages.map(({ id }) => id)).toEqual(
      Array.from({ length: TURNS }, (_, n) => [`h${n}`, `a${2 * n + 1}`]).flat(),
    );
    expect(await bytes(memory)).toBeLessThan(2 * JSON.stringify(messages).length);

    const lengths: number[] = [];
    for await (const { values } of chat(outside).getStateHistory(memory.config)) {
      const texts = (values.messages ?? []).map(({ id }: BaseMessage) => id);
      expect(texts).toEqual(messages.slice(0, texts.length).map(({ id }) => id));
      lengths.push(texts.length);
    }
    expect(new Set(lengths).size).toBe(2 * TURNS + 1);
  });

  test('can be read while a turn executes', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await chat(await memory.run()).invoke({ messages: [said(0)] }, memory.config);
    const graph = chat(await memory.run());
    const [values, state] = await Promise.all([
      graph.invoke({ messages: [said(1)] }, memory.config),
      chat(await memory.outside()).getState(memory.config),
    ]);
    expect(values.messages).toHaveLength(4);
    expect(state.values.messages.length).toBeGreaterThanOrEqual(2);
  });

  test.each(['async', 'exit'] as const)(
    'on a delta channel comes back too, with durability %s',
    async (durability) => {
      await using db = await open();
      const memory = await memoryOf(db);
      for (let turn = 0; turn < 8; turn++) {
        const graph = deltaChat(await memory.run(durability));
        await graph.invoke({ messages: [said(turn)] }, { ...memory.config, durability });
        const state = await deltaChat(await memory.outside()).getState(memory.config);
        const ids = state.values.messages.map(({ id }: BaseMessage) => id);
        expect(ids).toEqual(Array.from({ length: turn + 1 }, (_, n) => [`h${n}`, `a${2 * n + 1}`]).flat());
      }
    },
  );
});
