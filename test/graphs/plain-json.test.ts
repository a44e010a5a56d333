import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainJson } from '../../src/graphs/checkpointer/plain-json.ts';
import { SERVER_SERDE, type Serde, serializeChannel } from '../../src/graphs/checkpointer/serde.ts';
import { generatedCases } from '../support/generated-cases.ts';

/** Also what JSON has no form for, and what LangGraph's serialiser writes in its own. */
const anything = fc.anything({
  key: fc.oneof(fc.string(), fc.constantFrom('lc', 'lg_name', 'toJSON', '__proto__')),
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});

test('plain data has the same JSON as from the serializer of LangGraph', async () => {
  await fc.assert(
    fc.asyncProperty(anything, async (value) => {
      const text = plainJson(value);
      if (text === undefined) return;
      const [type, bytes] = await SERVER_SERDE.dumpsTyped(value);
      expect([type, Buffer.from(bytes).toString()]).toEqual(['json', text]);
    }),
    generatedCases(500),
  );
});

test('numbers, texts, lists and records bypass the serializer of LangGraph', async () => {
  const refused: Serde = { dumpsTyped: () => expect.unreachable(), loadsTyped: () => expect.unreachable() };
  const value = { n: 7, text: 'é\ud83d\ude00', none: null, list: [true, [1.5, {}]] };
  const [type, bytes] = await serializeChannel(refused, 'channel', value);
  expect([type, JSON.parse(Buffer.from(bytes).toString())]).toEqual(['json', value]);
});

test.each([
  ['nothing', undefined],
  ['a member that is nothing', { a: undefined }],
  ['a gap in a list', new Array(1)],
  ['a date', [new Date(0)]],
  ['a map', new Map()],
  ['bytes', new Uint8Array(1)],
  ['an instance of a class', new (class Message {})()],
  ['a circle', circle()],
  ['a big integer', { n: 1n }],
  ['a function', { f() {} }],
  ['what looks like a LangChain object', [{ lc: 1 }]],
  ['what looks like a Send', { lg_name: 'Send', node: 'a', args: {} }],
])('the serializer of LangGraph handles %s', (_what, value) => {
  expect(plainJson(value)).toBeUndefined();
});

function circle(): object {
  const one: Record<string, unknown> = {};
  one['again'] = one;
  return one;
}
