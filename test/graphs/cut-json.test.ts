import { AIMessage } from '@langchain/core/messages';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { cutJson, plainParameters } from '../../src/graphs/steps/cut-json.ts';
import { placeOf, StepRecorder } from '../../src/graphs/steps/recorder.ts';

const size = (json: string) => Buffer.byteLength(json);

test('a value that fits is stored as it is, with messages flat and circles named', () => {
  const circular: Record<string, unknown> = { n: 1 };
  circular['self'] = circular;
  expect(JSON.parse(cutJson({ list: [1, null, 'x'], at: new Date(0), circular }))).toEqual({
    list: [1, null, 'x'],
    at: '1970-01-01T00:00:00.000Z',
    circular: { n: 1, self: '[Circular]' },
  });
  expect(JSON.parse(cutJson([new AIMessage('yes')]))).toMatchObject([{ type: 'ai', content: 'yes' }]);
});

test.each([
  ['a long text', 'é'.repeat(100_000)],
  ['a long text within an object', { before: 1, text: '\u0001'.repeat(100_000), after: 2 }],
  ['a list of many items', Array.from({ length: 100_000 }, (_, n) => ({ n }))],
  ['an object of many members', Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`m${n}`, n]))],
  ['bytes', { file: new Uint8Array(1_000_000) }],
])('%s is cut to the limit, and stays JSON', (_what, value) => {
  const json = cutJson(value, 10_000);
  expect(size(json)).toBeLessThanOrEqual(10_000);
  expect(json).toMatch(/\(cut, |bytes\)/);
  expect(() => JSON.parse(json)).not.toThrow();
});

test('of a long list the beginning and the end are stored', () => {
  const list = JSON.parse(
    cutJson(
      Array.from({ length: 10_000 }, (_, n) => n),
      1000,
    ),
  );
  expect([list[0], list.at(-1)]).toEqual([0, 9999]);
});

test('a value that cannot be read does not fail the step', () => {
  const hostile = Object.defineProperty({}, 'x', { enumerable: true, get: () => JSON.parse('{') });
  expect(JSON.parse(cutJson(hostile))).toBe('(cannot be read)');
});

test('parameters of a model have no credentials, headers or clients, however deep', () => {
  const given = {
    temperature: 0,
    max_tokens: 5,
    apiKey: 'x',
    defaultHeaders: {},
    nested: { access_token: 'y', top_p: 1 },
  };
  expect(plainParameters({ ...given, client: {}, model: 'm', format: () => 1 })).toEqual({
    temperature: 0,
    max_tokens: 5,
    nested: { top_p: 1 },
    model: 'm',
  });
});

test('contents of steps wait up to 2 million characters until they are taken, and later ones are left out', () => {
  const recorder = new StepRecorder('contents', systemClock);
  const call = (letter: string) => {
    const start = { kind: 'model', name: 'm', model: null, provider: null, place: placeOf({}) } as const;
    const step = recorder.begin(start);
    const messages = Array.from({ length: 25 }, (_, n) => ({
      role: 'user',
      content: `${n}${letter.repeat(60_000)}`,
    }));
    recorder.keep(step, (keeper) => keeper.call([messages], {}, {}));
    recorder.succeed(step);
  };
  call('a');
  call('b');
  expect(recorder.take().map(({ recorded }) => recorded !== undefined)).toEqual([true, false]);
  call('c');
  expect(recorder.take().map(({ recorded }) => recorded !== undefined)).toEqual([true]);
});
