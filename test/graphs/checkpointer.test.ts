import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { LeaseLost } from '../../src/core/errors.ts';
import { sql } from '../../src/db/sql.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { type Memory, memoryOf } from '../support/memory.ts';

/** A conversation: the answer names what was said before. */
function chat(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => ({
      messages: [
        new AIMessage({ id: `a${messages.length}`, content: `${messages.length}: ${messages.at(-1)?.text}` }),
      ],
    }))
    .addEdge(START, 'answer')
    .compile({ checkpointer });
}

function say(text: string, id = text) {
  return { messages: [new HumanMessage({ id, content: text })] };
}

function texts(values: { messages: BaseMessage[] }): string[] {
  return values.messages.map((message) => message.text);
}

/** What each namespace's newest checkpoint is, from what the attempt remembers and from the database. */
async function rememberedAndStored(memory: Memory, checkpointer: BaseCheckpointSaver, checkpoint_ns = '') {
  const config = { configurable: { thread_id: memory.thread_id, checkpoint_ns } };
  return [await checkpointer.getTuple(config), await (await memory.outside()).getTuple(config)];
}

describeEachDatabase('a graph with the checkpointer of the server', (open) => {
  test('keeps a conversation across runs, with messages as message objects', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await chat(await memory.run()).invoke(say('one'), memory.config);
    await chat(await memory.run('sync')).invoke(say('two'), memory.config);
    const values = await chat(await memory.run('exit')).invoke(say('three'), {
      ...memory.config,
      durability: 'exit',
    });
    expect(texts(values)).toEqual(['one', '1: one', 'two', '3: two', 'three', '5: three']);
    const state = await chat(await memory.outside()).getState(memory.config);
    expect(state.values).toEqual(values);
    expect(state.values.messages.map((message: BaseMessage) => message.constructor)).toEqual([
      HumanMessage,
      AIMessage,
      HumanMessage,
      AIMessage,
      HumanMessage,
      AIMessage,
    ]);
  });

  test('has the same checkpoints in memory as in the database, at every step', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const checkpointer = await memory.run();
    const seen: unknown[] = [];
    const State = Annotation.Root({
      log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      last: Annotation<unknown>(),
    });
    const graph = new StateGraph(State)
      .addNode('plan', () => ({ log: ['plan'], last: new Map([['k', new Set([1])]]) }))
      .addNode('work', ({ last }: { last: unknown }) => ({ log: [`work ${last}`] }))
      .addNode('end', () => ({ log: ['end'], last: undefined }))
      .addEdge(START, 'plan')
      .addConditionalEdges('plan', () => [new Send('work', { last: 1 }), new Send('work', { last: 2 })])
      .addEdge('work', 'end')
      .compile({ checkpointer });
    // A stop at each step: while the graph goes on, the two would be asked at different moments.
    for (const input of [{ log: ['in'] }, null, null, null]) {
      await graph.invoke(input, { ...memory.config, interruptAfter: ['plan', 'work', 'end'] });
      const [remembered, stored] = await rememberedAndStored(memory, checkpointer);
      expect(remembered).toEqual(stored);
      seen.push(remembered?.checkpoint.channel_values.log);
    }
    expect(seen).toEqual([
      ['in', 'plan'],
      ['in', 'plan', 'work 1', 'work 2'],
      ['in', 'plan', 'work 1', 'work 2', 'end'],
      ['in', 'plan', 'work 1', 'work 2', 'end'],
    ]);
  });

  test('reads the checkpoint that it just wrote from memory', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const checkpointer = await memory.run();
    await chat(checkpointer).invoke(say('one'), memory.config);
    await memory.outside();
    await db.run(sql`delete from checkpoints`);
    expect(texts((await chat(checkpointer).getState(memory.config)).values)).toEqual(['one', '1: one']);
  });

  test('interrupts, and continues in a later run with the answer', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const graph = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(Annotation.Root({ name: Annotation<string>(), age: Annotation<number>() }))
        .addNode('ask', () => ({ name: interrupt('name?'), age: interrupt('age?') }))
        .addEdge(START, 'ask')
        .compile({ checkpointer });
    const asked = async () =>
      (await graph(await memory.outside()).getState(memory.config)).tasks[0]?.interrupts[0]?.value;

    await graph(await memory.run()).invoke({}, memory.config);
    expect(await asked()).toBe('name?');
    await graph(await memory.run()).invoke(new Command({ resume: 'Ada' }), memory.config);
    expect(await asked()).toBe('age?');
    const values = await graph(await memory.run()).invoke(new Command({ resume: 36 }), memory.config);
    expect(values).toEqual({ name: 'Ada', age: 36 });
  });

  test('keeps the state of an interrupted subgraph apart from that of its parent', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const State = Annotation.Root({
      steps: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const inner = new StateGraph(State)
      .addNode('first', () => ({ steps: ['first'] }))
      .addNode('ask', () => ({ steps: [interrupt('go on?')] }))
      .addEdge(START, 'first')
      .addEdge('first', 'ask')
      .compile();
    const graph = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(State).addNode('inner', inner).addEdge(START, 'inner').compile({ checkpointer });

    await graph(await memory.run()).invoke({ steps: ['in'] }, memory.config);
    const waiting = await graph(await memory.outside()).getState(memory.config, { subgraphs: true });
    expect(waiting.values).toEqual({ steps: ['in'] });
    expect(waiting.tasks[0]?.state).toMatchObject({ values: { steps: ['in', 'first'] }, next: ['ask'] });
    const values = await graph(await memory.run()).invoke(new Command({ resume: 'yes' }), memory.config);
    expect(values.steps).toEqual(['in', 'in', 'first', 'yes']);
  });

  test('forks from an earlier checkpoint, and each branch keeps its own', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await chat(await memory.run()).invoke(say('one'), memory.config);
    const fork = (await chat(await memory.outside()).getState(memory.config)).config;
    const branches = [];
    for (const text of ['left', 'right']) {
      const values = await chat(await memory.run()).invoke(say(text), fork);
      branches.push(texts(values));
    }
    expect(branches).toEqual([
      ['one', '1: one', 'left', '3: left'],
      ['one', '1: one', 'right', '3: right'],
    ]);
    const left = (
      await Array.fromAsync(chat(await memory.outside()).getStateHistory(memory.config, { limit: 20 }))
    )
      .map((state) => texts(state.values as { messages: BaseMessage[] }))
      .find((state) => state.includes('3: left'));
    expect(left).toEqual(branches[0]);
  });

  test('lists its history newest first, and filters it by metadata or before a checkpoint', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const config = { ...memory.config, metadata: { run_id: 'r', team: { name: 'red' } } };
    await chat(await memory.run()).invoke(say('one'), config);
    const history = async (options: object) =>
      Array.fromAsync(chat(await memory.outside()).getStateHistory(memory.config, options));
    const all = await history({});
    expect(all.map((state) => state.metadata?.step)).toEqual([1, 0, -1]);
    expect(all[0]?.metadata).toMatchObject({
      source: 'loop',
      run_id: 'r',
      team: { name: 'red' },
      thread_id: memory.thread_id,
    });
    expect(all[0]?.metadata).not.toHaveProperty('checkpoint_ns');
    const [newest, ...older] = all;
    expect(await history({ before: newest?.config })).toEqual(older);
    expect(await history({ filter: { source: 'input' } })).toEqual(all.slice(-1));
    expect(await history({ filter: { team: { name: 'blue' } } })).toEqual([]);
    expect(await history({ limit: 1 })).toEqual([newest]);
  });

  test('accepts a state update from outside, but refuses it while a run is in flight', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    await chat(await memory.run()).invoke(say('one'), memory.config);
    await expect(chat(await memory.outside()).updateState(memory.config, say('two'))).rejects.toThrow(
      'pending or running',
    );
    await memory.end();
    await chat(await memory.outside()).updateState(memory.config, say('two'), 'answer');
    const values = await chat(await memory.run()).invoke(say('three'), memory.config);
    expect(texts(values)).toEqual(['one', '1: one', 'two', 'three', '4: three']);
  });

  test('writes nothing after its run was claimed by another worker', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const lease = await memory.begin();
    const stale = memory.of({ ...lease, token: '00000000-0000-4000-8000-000000000000' }, 'sync');
    await expect(chat(stale).invoke(say('one'), memory.config)).rejects.toThrow(LeaseLost);
    expect(await memory.count('checkpoints')).toBe(0);
    expect(await memory.count('checkpoint_writes')).toBe(0);
    expect(texts(await chat(memory.of(lease)).invoke(say('two'), memory.config))).toEqual(['two', '1: two']);
  });

  test('stores a list element that was changed in place', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const state = Annotation.Root({ notes: Annotation<{ text: string }[]>() });
    const graph = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(state)
        .addNode('edit', ({ notes }) => {
          (notes[1] as { text: string }).text = 'x'.repeat(200);
          notes.push({ text: 'new'.repeat(50) });
          return { notes };
        })
        .addEdge(START, 'edit')
        .compile({ checkpointer });
    const notes = Array.from({ length: 4 }, (_, n) => ({ text: `${n}`.repeat(200) }));
    const values = await graph(await memory.run()).invoke({ notes }, memory.config);
    expect((await graph(await memory.outside()).getState(memory.config)).values).toEqual(values);
    expect(values.notes[1]?.text).toMatch('xxx');
  });

  test('reports an invalid checkpoint id as an error of the client', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    for (const configurable of [{ checkpoint_id: 'a\0b' }, { checkpoint_id: 7 }, { checkpoint_ns: ['a'] }]) {
      const config = { configurable: { thread_id: memory.thread_id, ...configurable } };
      await expect((await memory.outside()).getTuple(config)).rejects.toThrow('without NUL');
    }
  });
});
