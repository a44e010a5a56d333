import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectSerde, revive } from '../../src/graphs/checkpointer/serde.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { memoryOf } from '../support/memory.ts';
import { load, projectWithCopies } from './support.ts';

let project: string;

beforeAll(async () => {
  project = await projectWithCopies(['core', 'langgraph', 'langgraph-checkpoint']);
  await writeFile(
    join(project, 'graph.mjs'),
    `import { AIMessage, HumanMessage } from '@langchain/core/messages';
    import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
    export { AIMessage };
    export const graph = new StateGraph(MessagesAnnotation)
      .addNode('answer', ({ messages }) => {
        const own = messages.filter((each) => [AIMessage, HumanMessage].includes(each.constructor)).length;
        return { messages: [new AIMessage(own + ' of ' + messages.length + ' are mine')] };
      })
      .addEdge(START, 'answer')
      .compile();`,
  );
});

afterAll(() => rm(project, { recursive: true, force: true }));

describeEachDatabase('a project with its own LangChain', (open) => {
  test('gets its messages back as instances of its own classes', async () => {
    await using db = await open();
    const memory = await memoryOf(db);
    const graphs = await load({ own: './graph.mjs:graph' }, project);
    const graph = await graphs.get('own', memory.config, 'threads.create_run');
    for (const content of ['one', 'two', 'three']) {
      const call = {
        input: { messages: [{ role: 'user', content }] },
        command: null,
        config: memory.config,
        context: null,
        stream_mode: ['values' as const],
        subgraphs: false,
        interrupt_before: null,
        interrupt_after: null,
        durability: 'async' as const,
        memory: { checkpointer: await memory.run(), store: undefined },
        signal: new AbortController().signal,
      };
      for await (const _ of graph.stream(call));
    }
    const outside = { checkpointer: await memory.outside(), store: undefined };
    const state = await graph.state(memory.config, outside, false);
    expect(state?.values).toMatchObject({
      messages: [
        { content: 'one' },
        { content: '1 of 1 are mine' },
        { content: 'two' },
        { content: '3 of 3 are mine' },
        { content: 'three' },
        { content: '5 of 5 are mine' },
      ],
    });
  });
});

test('stored values are restored with their types, messages as classes of the project', async () => {
  const own = await import(join(project, 'graph.mjs'));
  const serde = projectSerde(project);
  const value = {
    message: new own.AIMessage({ content: 'hi', id: '1' }),
    map: new Map([['a', new Set([1, 2])]]),
    bytes: new Uint8Array([1, 2, 3]),
    pattern: /x+/gi,
    date: '2026-01-01T00:00:00.000Z',
    nothing: undefined,
    ['__proto__x']: { lc: 3 },
  };
  const [type, bytes] = await serde.dumpsTyped(value);
  const revived = (await revive(serde, type, bytes)) as typeof value;
  expect(revived).toEqual(value);
  expect(revived.message.constructor).toBe(own.AIMessage);
  expect('nothing' in revived).toBe(true);

  const [bytesType, plain] = await serde.dumpsTyped(value.bytes);
  expect(await revive(serde, bytesType, plain)).toEqual(value.bytes);
});

test('plain JSON is restored without the library and cannot set a prototype', async () => {
  const broken = { dumpsTyped: async () => Promise.reject(), loadsTyped: async () => Promise.reject() };
  const text = '{"a":[1,{"b":null}],"__proto__":{"polluted":true}}';
  const revived = (await revive(broken, 'json', Buffer.from(text))) as Record<string, unknown>;
  expect(JSON.stringify(revived)).toBe(text);
  expect(revived.polluted).toBeUndefined();
});
