import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { raw, sql } from '../../src/db/sql.ts';
import type { RunnableGraph } from '../../src/graphs/runnable.ts';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import { pruneThread } from '../../src/storage/threads/delete.ts';
import { DAMAGES, damageValue, damageWrites, SEALED_BY_ANOTHER } from '../support/damaged-values.ts';
import { describeEachDatabase, describeEncrypted } from '../support/databases.ts';
import { GraphThread } from '../support/graph-thread.ts';
import { FIXTURES, load } from './support.ts';

const graphs = await load({ odd: './odd-values.ts:graph', delta: './delta-chat.ts:graph' });
const runtime = (name: string) => graphs.get(name, { configurable: {} }, 'threads.create_run');
const [odd, delta] = [await runtime('odd'), await runtime('delta')];
const [EMPTY] = DAMAGES as [(typeof DAMAGES)[number]];

const checkpointIds = async (thread: GraphThread) =>
  (await thread.history()).map(({ checkpoint_id }) => checkpoint_id);

/** Two tasks of one superstep: one notes that it ran, the other asks. */
function beside(ran: string[]) {
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
  });
  const graph = new StateGraph(State)
    .addNode('note', () => {
      ran.push('note');
      return { log: ['noted'] };
    })
    .addNode('ask', () => ({ log: [String(interrupt('ok?'))] }))
    .addEdge(START, 'note')
    .addEdge(START, 'ask')
    .compile();
  return langGraph('beside', graph as unknown as RunnableGraph, FIXTURES);
}

describeEachDatabase('a damaged history', (open) => {
  test('executes a task again if its result cannot be read', async () => {
    await using db = await open();
    const ran: string[] = [];
    const thread = await GraphThread.of(db, beside(ran));
    await thread.run({ log: ['begin'] });
    await damageWrites(db, { thread_id: thread.memory.thread_id, channel: 'log' }, EMPTY.change);

    expect(await thread.state()).toMatchObject({ values: { log: ['begin'] }, next: ['note', 'ask'] });
    expect(await thread.history()).toHaveLength(2);
    await thread.run(null, { command: { resume: 'yes' } });
    expect(await thread.values()).toEqual({ log: expect.arrayContaining(['begin', 'noted', 'yes']) });
    expect(ran).toEqual(['note', 'note']);
  });

  test('reports a list stored as changes as unreadable if one change is', async () => {
    await using db = await open();
    const thread = await GraphThread.of(db, delta);
    const say = (text: string) => ({ messages: [{ role: 'user', content: text }] });
    for (const text of ['one', 'two']) await thread.run(say(text));
    const [, , , first] = await thread.history();
    await damageWrites(db, { thread_id: thread.memory.thread_id, channel: 'messages' }, EMPTY.change);

    const reason = { __unreadable__: EMPTY.reason };
    expect(await thread.values()).toEqual({ messages: reason });
    expect(await thread.history()).toHaveLength(6);
    await expect(thread.run(say('three'))).rejects.toThrow('"messages"');
    expect(first?.values).toMatchObject({ messages: [{ content: 'one' }, { content: 'You said: one' }] });
  });

  test('keeps the steps before one whose value cannot be stored', async () => {
    await using db = await open();
    const thread = await GraphThread.of(db, odd);
    await thread.run({ want: 'text' });
    const before = await checkpointIds(thread);
    for (const durability of ['sync', 'async', 'exit'] as const) {
      await expect(thread.run({ want: 'function' }, { durability })).rejects.toThrow('"out"');
    }
    expect(await thread.values()).toMatchObject({ out: 'a text', log: ['text'] });
    expect(await checkpointIds(thread)).toEqual(expect.arrayContaining(before));
    // Each write and each checkpoint belongs to one that is there.
    const orphans =
      await db.all(sql`select 1 from checkpoints c where c.parent_id is not null and not exists (
      select 1 from checkpoints p where p.thread_id = c.thread_id and p.ns = c.ns and p.checkpoint_id = c.parent_id)`);
    expect(orphans).toEqual([]);
  });

  test('keeps the newest completely readable state when it is pruned', async () => {
    await using db = await open();
    const thread = await GraphThread.of(db, odd);
    const { thread_id } = thread.memory;
    await thread.run({ want: 'text' });
    await thread.run({ want: 'text' });
    await damageValue(db, { thread_id, channel: 'out' }, EMPTY.change);
    const [newest] = await checkpointIds(thread);
    // Older by a step, it has what is damaged not yet.
    const readable = (await thread.history()).find(
      ({ values }) => !JSON.stringify(values).includes('unreadable'),
    );

    expect(await pruneThread(db, thread_id)).toBe(true);
    expect(await checkpointIds(thread)).toEqual([newest, readable?.checkpoint_id]);
    expect(await thread.state({ checkpoint_id: readable?.checkpoint_id })).toMatchObject({
      values: { out: 'a text', log: ['text'] },
    });

    // Once there is a newer one that is sound, it is enough.
    await thread.run({ want: 'text' });
    await pruneThread(db, thread_id);
    expect(await checkpointIds(thread)).toHaveLength(1);
    expect(await thread.values()).toMatchObject({ out: 'a text' });
  });

  test('keeps only the newest state when it is pruned and no state can be read', async () => {
    await using db = await open();
    const thread = await GraphThread.of(db, odd);
    for (let count = 0; count < 5; count++) await thread.run({ want: 'text' });
    const [newest] = await checkpointIds(thread);
    await db.run(
      sql`update checkpoint_blobs set ${EMPTY.change} where thread_id = ${thread.memory.thread_id}`,
    );
    await pruneThread(db, thread.memory.thread_id);
    expect(await checkpointIds(thread)).toEqual([newest]);
  });

  test('keeps a state whose lists are readable with all their changes when it is pruned', async () => {
    await using db = await open();
    const thread = await GraphThread.of(db, delta);
    const { thread_id } = thread.memory;
    for (const text of ['one', 'two', 'three'])
      await thread.run({ messages: [{ role: 'user', content: text }] });
    const states = await thread.history();
    const damaged = states[2];
    await db.run(sql`update checkpoint_writes set ${EMPTY.change}
      where thread_id = ${thread_id} and channel = 'messages' and checkpoint_id = ${damaged?.checkpoint_id ?? ''}`);
    await pruneThread(db, thread_id);
    // The one at which it was written is the last without it.
    expect(await checkpointIds(thread)).toContain(damaged?.checkpoint_id);
    expect(await thread.state({ checkpoint_id: damaged?.checkpoint_id })).toMatchObject({
      values: damaged?.values,
    });
  });
});

describeEncrypted('a damaged history', (open) => {
  test.each(['checkpoint', 'metadata'])(
    'omits only the checkpoint whose %s cannot be decrypted',
    async (column) => {
      await using db = await open();
      const thread = await GraphThread.of(db, odd);
      await thread.run({ want: 'text' });
      const before = await thread.history();
      const sealed = `sealed:zzzzzzzz:${Buffer.alloc(64).toString('base64')}`;
      const text = column === 'checkpoint' ? JSON.stringify(sealed) : JSON.stringify({ __sealed: sealed });
      await db.run(sql`update checkpoints set ${raw(column)} = ${text}
      where thread_id = ${thread.memory.thread_id} and checkpoint_id = ${before[0]?.checkpoint_id ?? ''}`);

      expect(await thread.history()).toEqual(before.slice(1));
      await expect(thread.state()).rejects.toThrow(`${SEALED_BY_ANOTHER.reason}.`);
      await expect(thread.run({ want: 'text' })).rejects.toThrow('decrypted');
      await pruneThread(db, thread.memory.thread_id);
      expect(await thread.history()).toMatchObject([{ checkpoint_id: before[1]?.checkpoint_id }]);
    },
  );
});
