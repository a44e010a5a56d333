import { isDeepStrictEqual } from 'node:util';
import { Document } from '@langchain/core/documents';
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  ToolMessageChunk,
} from '@langchain/core/messages';
import { Command, MemorySaver, Send } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { revive } from '../../src/graphs/checkpointer/serde.ts';
import { toWire } from '../../src/graphs/wire.ts';
import { generatedCases } from '../support/generated-cases.ts';

const { serde } = new MemorySaver();

/** The library's serialiser, and how often it had to revive a whole value. */
function observed() {
  const whole: string[] = [];
  return {
    whole,
    dumpsTyped: serde.dumpsTyped.bind(serde),
    async loadsTyped(type: string, text: Uint8Array | string) {
      whole.push(String(text));
      return serde.loadsTyped(type, text);
    },
  };
}

/** What a reader of the text gets, or that it is rejected. */
async function outcome(read: () => Promise<unknown>) {
  const value = await read().catch(() => 'rejected');
  return { value, wire: JSON.stringify(toWire(value)) };
}

/** Ours, after it was compared with the library's. */
async function compared(text: string, library = observed()): Promise<unknown> {
  const bytes = Buffer.from(text);
  const ours = await outcome(() => revive(library, 'json', bytes));
  const theirs = await outcome(() => serde.loadsTyped('json', text));
  expect(ours.wire).toBe(theirs.wire);
  expect(isDeepStrictEqual(ours.value, theirs.value), text).toBe(true);
  return ours.value;
}

async function textOf(value: unknown): Promise<string> {
  const [, bytes] = await serde.dumpsTyped(value);
  return Buffer.from(bytes).toString('utf8');
}

const CALL = { id: 'call', name: 'search', args: { q: 'é\u2028"' }, type: 'tool_call' as const };

const MESSAGES = {
  human: new HumanMessage({ content: 'hi', id: 'h', name: 'Ann' }),
  system: new SystemMessage('be brief'),
  blocks: new HumanMessage({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ],
  }),
  ai: new AIMessage({
    content: '',
    id: 'a',
    tool_calls: [CALL],
    invalid_tool_calls: [{ name: 'bad', args: '{', error: 'unclosed' }],
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } as never,
    response_metadata: { model_name: 'm', finish_reason: 'stop' },
    additional_kwargs: {
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{' } }],
    },
  }),
  aiBlocks: new AIMessage({ contentBlocks: [{ type: 'text', text: 'new' }] }),
  chunk: new AIMessageChunk({
    content: 'par',
    tool_call_chunks: [{ id: 'c', name: 'f', args: '{"a":', index: 0, type: 'tool_call_chunk' }],
  }),
  tool: new ToolMessage({
    content: 'ok',
    tool_call_id: 'c',
    status: 'success',
    artifact: { rows: [1, -0.5] },
  }),
  toolChunk: new ToolMessageChunk({ content: 'ok', tool_call_id: 'c' }),
  chat: new ChatMessage({ content: 'x', role: 'critic' }),
  function: new FunctionMessage({ content: 'x', name: 'f' }),
  removed: new RemoveMessage({ id: 'h' }),
};

describe('a message is revived as by the library, once its class is known without it', () => {
  test.each(Object.entries(MESSAGES))('%s', async (_name, message) => {
    const text = await textOf({ messages: [message, message], last: message });
    const library = observed();
    const [first, second] = [await compared(text, library), await compared(text, library)];
    expect(library.whole.filter((each) => each === text)).toEqual([]);
    expect(library.whole.length).toBe(1);
    expect(isDeepStrictEqual(first, second)).toBe(true);
  });

  test('with any fields', async () => {
    const library = observed();
    const name = fc.oneof(
      fc.constantFrom('content', 'tool_calls', 'usage_metadata', 'id', 'name', 'response_metadata', 'lc'),
      fc.string(),
      fc.stringMatching(/^[a-zA-Z_]{1,8}[0-9]?$/),
    );
    const record = fc.record({
      lc: fc.constantFrom(1, 1, 1, 2),
      type: fc.constantFrom('constructor', 'constructor', 'constructor', 'undefined', 'secret'),
      id: fc
        .constantFrom('AIMessage', 'HumanMessage', 'ToolMessage', 'SystemMessage', 'Nothing')
        .map((last) => ['langchain_core', 'messages', last]),
      kwargs: fc.dictionary(name, fc.oneof(fc.string(), fc.jsonValue({ maxDepth: 3 }))),
    });
    const value = fc.oneof(
      record,
      fc.array(record),
      fc.dictionary(fc.string(), fc.oneof(record, fc.jsonValue())),
    );
    await fc.assert(
      fc.asyncProperty(value, async (each) => {
        const text = JSON.stringify(each);
        // Without a message the key stays what it is, where the library would replace a prototype.
        fc.pre(text.includes('"lc"') || !text.includes('"__proto__"'));
        await compared(text, library);
      }),
      generatedCases(500),
    );
  });
});

describe('the library itself revives what is more than messages', () => {
  const text = { a: 'b' };
  const VALUES = {
    collections: {
      message: MESSAGES.ai,
      map: new Map([['a', new Set([1])]]),
      pattern: /x/g,
      error: new Error('e'),
    },
    bytes: { message: MESSAGES.human, bytes: new Uint8Array([1, 255]) },
    gone: [undefined, { gone: undefined, message: MESSAGES.human }],
    dates: { at: new Date(0), message: MESSAGES.human },
    document: [new Document({ pageContent: 'page', metadata: { page: 1 } }), MESSAGES.ai],
    nested: new ToolMessage({
      content: 'x',
      tool_call_id: 'c',
      artifact: [MESSAGES.ai, new Map([['k', 1]])],
    }),
    bytesWithin: new ToolMessage({ content: 'x', tool_call_id: 'c', artifact: new Uint8Array([1]) }),
    sends: [new Send('node', { messages: [MESSAGES.human] }), new Command({ goto: 'node', update: text })],
    lookalikes: {
      message: MESSAGES.human,
      data: { lc: 'x' },
      other: { lc: 1, type: 'not_implemented', id: [] },
    },
    escaped: new AIMessage({ content: 'x', additional_kwargs: { deep: { lc: 1, type: 'constructor' } } }),
  };
  test.each(Object.entries(VALUES))('%s', async (_name, value) => void (await compared(await textOf(value))));

  const human = { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'HumanMessage'] };
  const deep = JSON.parse(`${'['.repeat(60)}1${']'.repeat(60)}`);
  test.each([
    { ...human, kwargs: { content: 'x', deep } },
    {
      deep: JSON.parse(
        `${'['.repeat(60)}${JSON.stringify({ ...human, kwargs: { content: '' } })}${']'.repeat(60)}`,
      ),
    },
    { ...human, kwargs: { content: 'x', __lc_escaped__: 1 } },
    { ...human, kwargs: { content: 'x', within: { __lc_escaped__: { lc: 1 } } } },
    { ...human, kwargs: ['content'] },
    { ...human, kwargs: null },
    { ...human, id: ['langchain', 'schema', 'HumanMessage'], kwargs: { content: 'x' } },
    { ...human, id: ['langchain_core', 'messages', 'toString'], kwargs: { content: 'x' } },
    { ...human, id: ['langchain_core', 'messages', 'ai', 'AIMessage'], kwargs: { content: 'x' } },
    { ...human, more: true, kwargs: { content: 'x' } },
    { ...human, kwargs: { content: 'x', 'Odd-Key 2': 1, camelCase: 2, a__b: 3, _c: 4 } },
    { ...human, kwargs: { content: 'x', token: { lc: 1, type: 'secret', id: ['PATH'] } } },
  ])('odd records: %#', async (record) => void (await compared(JSON.stringify([record, MESSAGES.human]))));

  test('keys that would replace a prototype, numbers that change when they are printed', async () => {
    const record = JSON.stringify({ ...human, kwargs: { content: 'x' } });
    for (const odd of ['{"__proto__":{"a":1}}', '-0', '1e999']) {
      await compared(`[${odd},${record}]`);
      await compared(record.replace('"x"', odd));
    }
  });
});
