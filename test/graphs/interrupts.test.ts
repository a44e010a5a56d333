import { describe, expect, test } from 'vitest';
import { Conversation } from './support.ts';

const INPUT = { x: 1 };
const ID = expect.stringMatching(/^[0-9a-f]{32}$/);

async function stopped(name: string, input: unknown = INPUT): Promise<Conversation> {
  const conversation = await Conversation.with(name);
  await conversation.run({ input });
  return conversation;
}

async function lastValues(conversation: Conversation, call: object): Promise<unknown> {
  return (await conversation.dataOf('values', call)).at(-1);
}

describe('interrupt()', () => {
  test('ends the stream with the interrupt inside the state, and as an update', async () => {
    const asking = await Conversation.with('interrupting');
    const events = await asking.run({ input: INPUT, stream_mode: ['values', 'updates'] });
    const asked = [{ id: ID, value: { question: 'ok?' } }];
    expect(events.slice(-2)).toEqual([
      { event: 'updates', data: { __interrupt__: asked } },
      { event: 'values', data: { x: 1, log: ['a:1'], __interrupt__: asked } },
    ]);
  });

  test.each([['yes'], [{ by: 'name' }], [['a', 'list']], [false], [0], ['']])(
    'is answered by resume: %j',
    async (answer) => {
      const asking = await stopped('interrupting');
      expect(await lastValues(asking, { command: { resume: answer } })).toEqual({
        x: 1,
        log: ['a:1', `b:${JSON.stringify(answer)}`],
      });
    },
  );

  test('is answered by its id', async () => {
    const asking = await stopped('interrupting');
    const { interrupts } = (await asking.state()) ?? { interrupts: [] };
    const resume = { [interrupts[0]?.id as string]: 'by id' };
    expect(await lastValues(asking, { command: { resume } })).toMatchObject({ log: ['a:1', 'b:"by id"'] });
  });

  test('interrupts again when the run continues without an answer', async () => {
    const asking = await stopped('interrupting');
    const nothing = { resume: null, update: null, goto: null };
    expect(await lastValues(asking, { command: nothing })).toMatchObject({ __interrupt__: [{ id: ID }] });
  });
});

describe('several interrupts at once', () => {
  const MANY = { items: [2, 3], ask: true };

  test('are reported as one list', async () => {
    const squares = await Conversation.with('parallel-send');
    expect(await lastValues(squares, { input: MANY })).toEqual({
      ...MANY,
      squares: [],
      __interrupt__: [
        { id: ID, value: { factor_for: 2 } },
        { id: ID, value: { factor_for: 3 } },
      ],
    });
  });

  test('refuse an answer without an id', async () => {
    const squares = await stopped('parallel-send', MANY);
    await expect(squares.run({ command: { resume: 10 } })).rejects.toMatchObject({
      name: 'RuntimeError',
      message: expect.stringMatching(
        /^When there are multiple pending interrupts, you must specify the interrupt id when resuming/,
      ),
    });
  });

  test('can be answered one by one, and interrupt again for the rest', async () => {
    const squares = await stopped('parallel-send', MANY);
    const [first] = (await squares.state())?.interrupts ?? [];
    const partly = await lastValues(squares, { command: { resume: { [first?.id as string]: 10 } } });
    const rest = [{ id: ID, value: { factor_for: 3 } }];
    expect(partly).toEqual({ ...MANY, squares: [40], __interrupt__: rest });
    expect((await squares.state())?.interrupts).toEqual(rest);

    expect(await lastValues(squares, { command: { resume: 100 } })).toMatchObject({ squares: [40, 900] });
  });
});

test.each([
  ['value', 'id', 'value'],
  ['value', 'id', 'id'],
  ['value', 'value', 'id'],
  ['id', 'value', 'id'],
])('three questions of one node get their own answers: by %s, %s and %s', async (...ways) => {
  const asking = await stopped('questions', { messages: [] });
  const values: unknown[] = [];
  for (const [index, way] of ways.entries()) {
    const [asked] = (await asking.state())?.interrupts ?? [];
    const resume = way === 'id' ? { [asked?.id as string]: index + 1 } : index + 1;
    values.push(await lastValues(asking, { command: { resume } }));
  }
  expect(values.at(-1)).toMatchObject({ messages: [{ content: '{"name":1,"trip":2,"booked":3}' }] });
});

test('an answer without an id goes to the next question of a node that threw an interrupt without an id', async () => {
  const thrown = await stopped('thrown-interrupt');
  expect((await thrown.state())?.next).toEqual(['ask']);
  expect(await lastValues(thrown, { command: { resume: 'yes' } })).toMatchObject({ log: ['yes'] });
});

describe('interrupt_before and interrupt_after', () => {
  test('stop before a node, with a plain state and an empty list as update', async () => {
    const echo = await Conversation.with('echo');
    const events = await echo.run({
      input: INPUT,
      interrupt_before: ['b', 'no such node'],
      stream_mode: ['values', 'updates'],
    });
    expect(events.filter(({ event }) => event === 'values').at(-1)?.data).toEqual({ x: 1, log: ['a:1'] });
    expect(events.at(-1)).toEqual({ event: 'updates', data: { __interrupt__: [] } });
    expect(await echo.state()).toMatchObject({ next: ['b'], interrupts: [] });

    expect(await lastValues(echo, { input: null })).toEqual({ x: 1, log: ['a:1', 'b'] });
  });

  test('stop after a node, or at every node', async () => {
    const after = await Conversation.with('echo');
    await after.run({ input: INPUT, interrupt_after: ['a'] });
    expect(await after.state()).toMatchObject({ next: ['b'], values: { log: ['a:1'] } });

    const everywhere = await Conversation.with('echo');
    await everywhere.run({ input: INPUT, interrupt_before: '*' });
    expect(await everywhere.state()).toMatchObject({ next: ['a'], values: { log: [] } });
  });
});

describe('commands', () => {
  test('update the state, as an object or as pairs, before the run continues', async () => {
    const echo = await Conversation.with('echo');
    await echo.run({ input: INPUT, interrupt_before: ['b'] });
    expect(await lastValues(echo, { command: { update: { log: ['object'] }, goto: 'b' } })).toMatchObject({
      log: ['a:1', 'object', 'b'],
    });
    expect(await lastValues(echo, { command: { update: [['log', ['pair']]], goto: ['b'] } })).toMatchObject({
      log: ['a:1', 'object', 'b', 'pair', 'b'],
    });
  });

  test('go to nodes, with an input of their own', async () => {
    const squares = await stopped('parallel-send', { items: [1] });
    const goto = [
      { node: 'square', input: { item: 5 } },
      { node: 'square', input: { item: 6 } },
    ];
    expect(await lastValues(squares, { command: { goto } })).toMatchObject({ squares: [1, 25, 36] });
    const one = { node: 'square', input: { item: 7 } };
    expect(await lastValues(squares, { command: { goto: one } })).toMatchObject({ squares: [1, 25, 36, 49] });
  });

  test('take precedence over an input', async () => {
    const asking = await stopped('interrupting');
    const values = await lastValues(asking, { input: { x: 99 }, command: { resume: 'ok' } });
    expect(values).toEqual({ x: 1, log: ['a:1', 'b:"ok"'] });
  });
});
