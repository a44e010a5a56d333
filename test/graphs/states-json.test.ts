import { expect, test } from 'vitest';
import { statesJson } from '../../src/graphs/runtime/states-json.ts';
import { emptyThreadState } from '../../src/graphs/runtime/thread-state.ts';
import type { ThreadState } from '../../src/schemas/thread-state.ts';

async function printed(...states: Partial<ThreadState>[]): Promise<string> {
  async function* all() {
    yield* states as ThreadState[];
  }
  return String(await statesJson(all()));
}

test('a list of states has the same JSON as from JSON.stringify', async () => {
  const messages = [
    { type: 'human', content: 'Grüße 👋 "\\ \n' },
    { type: 'ai', content: 'ok' },
  ];
  const full = { ...emptyThreadState(), created_at: '2026-01-01', next: ['a'] };
  const states = [
    { ...full, values: { messages, n: 1, nothing: null, gone: undefined, nested: { list: messages } } },
    {
      ...full,
      values: { messages: messages.slice(0, 1), empty: [], mixed: [1, {}, 'x'], deep: [[messages]] },
    },
    {
      ...full,
      values: { '2': 'two', '1': 'one', ['__proto__']: 'text', messages: [{ toJSON: 'no function' }] },
    },
    { ...full, values: [messages] },
    { ...full, values: 'text' },
    { ...full, values: undefined },
    { next: [], checkpoint_id: null },
    {},
  ];
  expect(await printed(...states)).toBe(JSON.stringify(states));
  expect(await printed()).toBe('[]');
});

test('unstorable text in a list of states is replaced, as in any response', async () => {
  const text = await printed({ values: { ['k\0']: 'a\0b', messages: [{ content: '\ud800' }] } });
  expect(JSON.parse(text)).toEqual([
    { values: { 'k\ufffd': 'a\ufffdb', messages: [{ content: '\ufffd' }] } },
  ]);
});
