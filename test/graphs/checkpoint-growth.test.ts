import { isDeepStrictEqual } from 'node:util';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  type BaseCheckpointSaver,
  DeltaChannel,
  type MessagesAnnotation,
  messagesDeltaReducer,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { number } from '../../src/db/columns.ts';
import { sql } from '../../src/db/sql.ts';
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

interface Message {
  id: string;
  content: string;
}

/** Plain objects: making messages of 20,000 of them would take most of the time. */
function chat(checkpointer: BaseCheckpointSaver) {
  const State = Annotation.Root({
    messages: Annotation<Message[]>({ reducer: (had, more) => [...had, ...more], default: () => [] }),
  });
  return new StateGraph(State)
    .addNode('answer', ({ messages }) => ({
      messages: [{ id: `a${messages.length}`, content: '!'.repeat(100 + (messages.length % 7) * 40) }],
    }))
    .addEdge(START, 'answer')
    .compile({ checkpointer });
}

function asked(n: number): { messages: Message[] } {
  return { messages: [{ id: `h${n}`, content: '?'.repeat(50) }] };
}

/** A conversation on a channel that LangGraph itself stores as what was written to it. */
function deltaChat(checkpointer: BaseCheckpointSaver) {
  const messages = () => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency: 5 });
  return new StateGraph(Annotation.Root({ messages: messages as never }) as typeof MessagesAnnotation)
    .addNode('answer', answered)
    .addEdge(START, 'answer')
    .compile({ checkpointer });
}

function idsAfter(turns: number): string[] {
  return Array.from({ length: turns }, (_, n) => [`h${n}`, `a${2 * n + 1}`]).flat();
}

async function bytes({ db, thread_id }: Memory): Promise<number> {
  const row = await db.get(sql`select sum(length(value)) as ${number('bytes')} from checkpoint_blobs
    where thread_id = ${thread_id} and channel = 'messages'`);
  return Number(row?.bytes);
}

describeEachDatabase('a long conversation', (open) => {
  test('takes at most twice the size of its messages, and each of its states can be read', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    for (let turn = 0; turn < TURNS; turn++) {
      await chat(await memory.run()).invoke(asked(turn), memory.config);
    }
    const newest = await (await memory.outside()).getTuple(memory.config);
    const messages = newest?.checkpoint.channel_values.messages as Message[];
    expect(messages.map(({ id }) => id)).toEqual(idsAfter(TURNS));
    expect(await bytes(memory)).toBeLessThan(2 * JSON.stringify(messages).length);

    const states = (await memory.checkpoints.find({ thread_id: memory.thread_id })).map((stored) => {
      const value = stored.value('messages', JSON.parse(stored.versions).messages);
      return JSON.parse(Buffer.from(value?.bytes ?? []).toString() || '[]');
    });
    expect(states.every((state) => isDeepStrictEqual(state, messages.slice(0, state.length)))).toBe(true);
    expect(new Set(states.map((state) => state.length)).size).toBe(2 * TURNS + 1);
  });

  test('can be read while a turn executes', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await chat(await memory.run()).invoke(asked(0), memory.config);
    const graph = chat(await memory.run());
    const [values, state] = await Promise.all([
      graph.invoke(asked(1), memory.config),
      chat(await memory.outside()).getState(memory.config),
    ]);
    expect(values.messages).toHaveLength(4);
    expect(state.values.messages.length).toBeGreaterThanOrEqual(2);
  });

  test.each(['async', 'exit'] as const)(
    'on a delta channel can be read too, with durability %s',
    async (durability) => {
      await using db = await open();
      const memory = await memoryOf(db);
      for (let turn = 0; turn < 8; turn++) {
        const graph = deltaChat(await memory.run(durability));
        await graph.invoke({ messages: [said(turn)] }, { ...memory.config, durability });
        const state = await deltaChat(await memory.outside()).getState(memory.config);
        const ids = state.values.messages.map(({ id }: BaseMessage) => id);
        expect(ids).toEqual(idsAfter(turn + 1));
      }
    },
  );
});
