import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command, Send } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { toWire } from '../../src/graphs/wire.ts';

/** As clients get it. */
function wire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(toWire(value)));
}

describe('messages', () => {
  test.each([
    [
      new HumanMessage({ content: 'hi', id: 'h', name: 'Ann' }),
      { type: 'human', content: 'hi', id: 'h', name: 'Ann' },
    ],
    [
      new AIMessage({ content: '', tool_calls: [{ id: 'c', name: 'f', args: { a: 1 } }] }),
      { type: 'ai', tool_calls: [{ id: 'c', name: 'f', args: { a: 1 } }], invalid_tool_calls: [] },
    ],
    [
      new ToolMessage({ content: 'ok', tool_call_id: 'c', status: 'success' }),
      { type: 'tool', content: 'ok', tool_call_id: 'c', status: 'success' },
    ],
    [new AIMessageChunk({ content: 'par' }), { type: 'ai', content: 'par' }],
  ])('are sent as flat objects: %#', (message, expected) => {
    const flat = wire({ deep: [message] }) as { deep: [object] };
    expect(flat.deep[0]).toMatchObject(expected);
    expect(flat.deep[0]).not.toHaveProperty('lc');
  });

  test('are sent with later changes to them, and are not modified', () => {
    const message = new AIMessage({ content: 'draft' });
    message.content = 'final';
    message.id = 'given later';
    const before = JSON.stringify(message);
    expect(wire(message)).toMatchObject({ content: 'final', id: 'given later' });
    expect(JSON.stringify(message)).toBe(before);
  });
});

describe('other values', () => {
  test('are not copied if they are JSON already', () => {
    const state = { x: 1, list: [{ deep: true }], nothing: null };
    expect(toWire(state)).toBe(state);
  });

  test('without a JSON form are converted', () => {
    const circle: Record<string, unknown> = { name: 'round' };
    circle['self'] = circle;
    expect(
      wire({
        big: 2n ** 64n,
        map: new Map([['k', new Set([1, 2])]]),
        bytes: new Uint8Array([1, 2, 3]),
        date: new Date(0),
        error: new RangeError('too far'),
        gone: undefined,
        circle,
      }),
    ).toEqual({
      big: '18446744073709551616',
      map: { k: [1, 2] },
      bytes: 'AQID',
      date: '1970-01-01T00:00:00.000Z',
      error: { error: 'RangeError', message: 'too far' },
      circle: { name: 'round', self: '[Circular]' },
    });
  });

  test('of LangGraph are sent with flat messages inside', () => {
    const message = new HumanMessage('hi');
    expect(wire(new Command({ update: { messages: [message] } }))).toMatchObject({
      update: { messages: [{ type: 'human', content: 'hi' }] },
    });
    expect(wire(new Send('node', { message }))).toMatchObject({
      node: 'node',
      args: { message: { type: 'human' } },
    });
  });

  test('keep a key named __proto__ as a key', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": true}, "big": 0}');
    hostile.big = 1n;
    expect(JSON.stringify(toWire(hostile))).toBe('{"__proto__":{"polluted":true},"big":"1"}');
  });
});

test('an error in the state of a graph is sent with its class and unredacted text', () => {
  class QuotaError extends Error {}
  const message = 'used up in /srv/app/agents/quota.ts';
  expect(wire({ last: new QuotaError(message) })).toEqual({ last: { error: 'QuotaError', message } });
});
