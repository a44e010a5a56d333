import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { withContents } from '../../src/graphs/steps/content-marks.ts';
import { inputOf, outputOf, runContents, toolValueOf } from '../../src/graphs/steps/contents.ts';
import { placeOf, StepRecorder } from '../../src/graphs/steps/recorder.ts';

const parse = (json: string | undefined) => JSON.parse(json ?? '');
const text = (content: string) => ({ type: 'text', content });

test('recorded messages follow the conventions of OpenTelemetry', () => {
  const tool_calls = [{ id: 'call_1', name: 'search', args: { query: 'it' } }];
  const conversation = [
    new SystemMessage('Be brief.'),
    new HumanMessage({
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: 'data:…' },
      ],
    }),
    new AIMessage({ content: '', tool_calls }),
    new ToolMessage({ content: 'found it', tool_call_id: 'call_1' }),
  ];
  expect(parse(inputOf([conversation]))).toEqual([
    { role: 'system', parts: [text('Be brief.')] },
    { role: 'user', parts: [text('Look'), { type: 'image_url' }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 'call_1', name: 'search', arguments: { query: 'it' } }],
    },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: [text('found it')] }] },
  ]);
});

test('prompts and texts of older models are recorded as messages', () => {
  expect(parse(inputOf(['Say yes']))).toEqual([{ role: 'user', parts: [text('Say yes')] }]);
  expect(parse(outputOf({ generations: [[{ text: 'yes' }]] }))).toEqual([
    { role: 'assistant', parts: [text('yes')] },
  ]);
});

test('of a long conversation the newest messages are recorded, with long texts truncated', () => {
  const long = Array.from({ length: 100 }, (_, n) => new HumanMessage(`${n} ${'x'.repeat(1000)}`));
  const json = inputOf([long]) ?? '';
  expect(Buffer.byteLength(json)).toBeLessThan(17_000);
  const kept: { parts: { content: string }[] }[] = parse(json);
  expect(kept.length).toBeGreaterThan(10);
  expect(kept.at(-1)?.parts[0]?.content).toMatch(/^99 x/);

  const [only] = parse(inputOf([[new HumanMessage('y'.repeat(100_000))]]));
  expect(only.parts[0].content).toMatch(/^y+… \(cut, 100,000 characters in all\)$/);
  expect(Buffer.byteLength(toolValueOf('z'.repeat(100_000)) ?? '')).toBeLessThanOrEqual(16 * 1024);
});

test('a recorded message with many large parts is replaced by a note', () => {
  const content = Array.from({ length: 10 }, () => ({ type: 'text', text: 'x'.repeat(4000) }));
  expect(parse(inputOf([[new HumanMessage({ content })]]))).toEqual([
    { role: 'user', parts: [text('(more than 16 kB)')] },
  ]);
});

test('input and output of a tool are recorded as text, JSON, a message, or nothing', () => {
  expect(toolValueOf('{"query":"it"}')).toBe('{"query":"it"}');
  expect(toolValueOf({ found: 1 })).toBe('{"found":1}');
  expect(toolValueOf(new ToolMessage({ content: 'found it', tool_call_id: '1' }))).toBe('found it');
  expect(toolValueOf(0)).toBe('0');
  expect(toolValueOf(undefined)).toBeUndefined();
});

test('of a run, only the new messages of a conversation are recorded as input and output', () => {
  const given = [{ role: 'human', content: 'And now?' }];
  const left = [
    new HumanMessage('Before'),
    new AIMessage('Old'),
    new HumanMessage('And now?'),
    new AIMessage('New'),
  ];
  const { input, output } =
    runContents({ input: { messages: given }, command: null }, { messages: left }) ?? {};
  expect(parse(input)).toEqual([{ role: 'user', parts: [text('And now?')] }]);
  expect(parse(output)).toEqual([{ role: 'assistant', parts: [text('New')] }]);
});

test('an input, an answer and a state of another form are recorded as JSON text', () => {
  const started = runContents({ input: { topic: 'tea' }, command: null }, { topic: 'tea', words: 2 });
  expect(parse(started?.input)).toEqual([{ role: 'user', parts: [text('{"topic":"tea"}')] }]);
  expect(parse(started?.output)).toEqual([{ role: 'assistant', parts: [text('{"topic":"tea","words":2}')] }]);
  const answered = runContents({ input: null, command: { resume: false } }, undefined);
  expect(parse(answered?.input)).toEqual([{ role: 'user', parts: [text('false')] }]);
  expect(answered).not.toHaveProperty('output');
  expect(runContents({ input: null, command: null }, undefined)).toBeUndefined();
});

test('an invalid message does not fail the recorded call', () => {
  expect(parse(inputOf(undefined))).toEqual([{ role: 'user', parts: [text('undefined')] }]);
  expect(parse(outputOf(undefined))).toEqual([]);
  expect(parse(outputOf({ generations: [[null]] }))).toEqual([{ role: 'assistant', parts: [] }]);
});

test('contents of calls are buffered up to 8 million characters until they are read', () => {
  const recorder = new StepRecorder('all', systemClock, { has_contents: true });
  const call = () => {
    const start = { kind: 'model', name: 'm', model: null, provider: null, place: placeOf({}) } as const;
    recorder.succeed(recorder.begin(start), undefined, { input: 'x'.repeat(5 * 1024 * 1024) });
  };
  call();
  call();
  expect(recorder.take().map(({ contents }) => contents !== undefined)).toEqual([true, false]);
  call();
  expect(recorder.take().map(({ contents }) => contents !== undefined)).toEqual([true]);
});

test('a node that returns what a model answered does not repeat it', () => {
  const recorder = new StepRecorder('contents', systemClock);
  const begin = (kind: 'model' | 'node') =>
    recorder.begin({ kind, name: kind, model: null, provider: null, place: placeOf({}) });
  const content = 'Tea it is. '.repeat(50);
  const message = new AIMessage(content);
  const call = begin('model');
  recorder.keep(call, (keeper) => keeper.answer({ generations: [[{ message }]] }));
  recorder.succeed(call);
  const node = begin('node');
  const update = { messages: [message, new AIMessage('short')], n: 1 };
  recorder.keep(node, (keeper) => keeper.output(update));
  recorder.succeed(node);

  const [answered, returned] = recorder.take().map(({ recorded }) => recorded);
  const [digest = ''] = answered?.answer ?? [];
  expect(returned).toMatchObject({ repeats: [digest], texts: {} });
  expect(returned?.output).not.toContain('Tea it is.');
  const answer = parse(answered?.texts?.[digest]);
  expect(withContents(parse(returned?.output), [answer])).toMatchObject({
    messages: [
      { type: 'ai', content },
      { type: 'ai', content: 'short' },
    ],
    n: 1,
  });
});

test('messages that cannot be read to the end leave room for those of later steps', () => {
  const recorder = new StepRecorder('contents', systemClock);
  const begin = () =>
    recorder.begin({ kind: 'model', name: 'm', model: null, provider: null, place: placeOf({}) });
  const unreadable = {
    role: 'user',
    get content() {
      throw new Error('cannot be read');
    },
  };
  for (let n = 0; n < 50; n += 1) {
    const step = begin();
    recorder.keep(step, (keeper) => keeper.call([`${n} ${'x'.repeat(60_000)}`, unreadable], {}, {}));
    recorder.succeed(step);
  }
  const last = begin();
  recorder.keep(last, (keeper) => keeper.call(['Tea?'], {}, {}));
  recorder.succeed(last);
  const [first, ...others] = recorder.take().map(({ recorded }) => recorded);
  expect(first).toBeUndefined();
  expect(Object.values(others.at(-1)?.texts ?? {}).map(parse)).toEqual([{ role: 'user', content: 'Tea?' }]);
});

test('of a conversation beyond 1 MB, messages that an earlier call had count like new ones', () => {
  const recorder = new StepRecorder('contents', systemClock);
  const message = (n: number) => new HumanMessage(`${n} ${'x'.repeat(60_000)}`);
  const given = Array.from({ length: 12 }, (_, n) => message(n));
  const kept = (): number => {
    const step = recorder.begin({
      kind: 'model',
      name: 'm',
      model: null,
      provider: null,
      place: placeOf({}),
    });
    recorder.keep(step, (keeper) => keeper.call([given], {}, {}));
    recorder.succeed(step);
    return recorder.take()[0]?.recorded?.messages?.length ?? 0;
  };
  expect(kept()).toBe(12);
  for (let n = 12; n < 22; n++) given.push(message(n));
  expect(kept()).toBe(22);
  for (let n = 22; n < 60; n++) given.push(message(n));
  // The first four, a note, and the newest.
  expect(kept()).toBe(4 + 1 + 18);
});
