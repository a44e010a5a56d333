import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

/** One node of a subgraph on its own, as the guide of graphs has it. */
const http = await openApp({ graphs: ['alone-nested'] });
afterAll(() => http[Symbol.asyncDispose]());

async function run(thread_id: string, run: object) {
  const { body } = await http.post(`/threads/${thread_id}/runs/wait`, {
    assistant_id: 'alone-nested',
    ...run,
  });
  const [{ run_id, status }] = (await http.get(`/threads/${thread_id}/runs`)).body;
  const { steps } = (await http.get(`/runs/${run_id}/steps`)).body;
  const executed = steps
    .filter(({ kind }: { kind: string }) => kind === 'node')
    .map(({ namespace, name }: { namespace: string; name: string }) =>
      [...namespace.split('|').map((part) => part.split(':')[0]), name].filter(Boolean).join(':'),
    );
  return { status, executed, body };
}

/** The newest state of the subgraph, or of that in it. */
async function stateWithin(thread_id: string, depth: number) {
  const { body } = await http.get(`/threads/${thread_id}/state?subgraphs=true`);
  let state = body;
  for (let i = 0; i < depth; i++) state = state.tasks[0].state;
  return state;
}

/** Executes a node on a new thread. */
async function alone(id: string, command: object) {
  const thread_id = await http.thread();
  return { thread_id, ...(await run(thread_id, { command, interrupt_after: [id] })) };
}

const STATE = { topic: 'tea', ran: ['before'] };

describe('a node of a subgraph on its own', () => {
  test.each([
    ['write', 'write tea', ['last']],
    ['last', 'last', []],
  ])(
    '%s executes once from the given state of the subgraph, and the run then ends',
    async (node, wrote, next) => {
      const id = `team:${node}`;
      const { thread_id, status, executed } = await alone(id, { update: STATE, goto: id });
      expect([status, executed.toSorted()]).toEqual(['success', ['team', id].toSorted()]);
      expect(await stateWithin(thread_id, 1)).toMatchObject({ values: { ran: ['before', wrote] }, next });
      expect(await stateWithin(thread_id, 0)).toMatchObject({ next: ['team'] });
    },
  );

  test('in a subgraph of a subgraph executes on its own too', async () => {
    const id = 'team:deep:think';
    const { thread_id, status, executed } = await alone(id, { update: STATE, goto: id });
    expect([status, executed]).toEqual(['success', expect.arrayContaining(['team', 'team:deep', id])]);
    expect(executed).toHaveLength(3);
    expect(await stateWithin(thread_id, 2)).toMatchObject({ values: { ran: ['before', 'think tea'] } });
  });

  test('that Send starts executes with the given input', async () => {
    const goto = { node: 'team:each', input: { item: 'pear' } };
    const { thread_id } = await alone('team:each', { update: STATE, goto });
    expect(await stateWithin(thread_id, 1)).toMatchObject({ values: { ran: ['before', 'each pear'] } });
  });

  test('returns the message of a tool that executes alone', async () => {
    const call = { id: 'call-1', name: 'add', args: { a: 1, b: 2 } };
    const messages = [{ role: 'assistant', content: '', tool_calls: [call] }];
    const { thread_id } = await alone('team:tools', { update: { messages }, goto: 'team:tools' });
    const { values } = await stateWithin(thread_id, 1);
    expect(values.messages.at(-1)).toMatchObject({ type: 'tool', content: '3' });
  });

  test('can interrupt and be answered by any client, and no other node executes', async () => {
    const id = 'team:ask';
    const { thread_id, body } = await alone(id, { update: STATE, goto: id });
    expect(body).toMatchObject({ __interrupt__: [{ value: { question: 'Which?' } }] });
    const answered = await run(thread_id, { command: { resume: 'this' }, interrupt_after: [id] });
    expect([answered.status, answered.executed.toSorted()]).toEqual(['success', ['team', id].toSorted()]);
    expect(await stateWithin(thread_id, 1)).toMatchObject({
      values: { ran: ['before', 'ask this'] },
      next: ['last'],
    });
  });

  test('is followed by the rest of the graph in a later run without an input', async () => {
    const id = 'team:write';
    const { thread_id } = await alone(id, { update: STATE, goto: id });
    const { status, executed, body } = await run(thread_id, { input: null });
    expect([status, body.ran]).toEqual([
      'success',
      ['before', 'write tea', 'last', 'before', 'write tea', 'last', 'deep begin', 'think ', 'after'],
    ]);
    expect(executed).not.toContain('team:begin');
  });

  test('fails its run with the error that it throws', async () => {
    const { status, body } = await alone('team:fails', { update: STATE, goto: 'team:fails' });
    expect([status, body]).toEqual(['error', { __error__: { error: 'Error', message: 'It always fails' } }]);
  });

  test.each([
    ['code:think', 'code:think', 'the code of code calls its graph. Execute code instead.'],
    ['team:nothing', 'team:nothing', 'the graph has no node team:nothing'],
    ['team:deep:nothing', 'team:deep:nothing', 'the graph has no node team:deep:nothing'],
    [['team:write', 'after'], 'team:write', 'must be the only target'],
    ['team:write', 'team:last', 'add it to interrupt_after'],
  ])('refuses a command to %s that stops after %s: %s', async (goto, stop, why) => {
    const { status, executed, body } = await alone(stop, { update: STATE, goto });
    expect([status, executed, body.__error__.message]).toEqual(['error', [], expect.stringContaining(why)]);
  });
});

test('is listed with whether it can run on its own', async () => {
  const { body } = await http.get('/assistants/alone-nested/nodes');
  const can = body.map(({ id, can_run_alone }: Record<string, unknown>) => [id, can_run_alone]);
  expect(Object.fromEntries(can)).toMatchObject({
    ...{ team: true, code: true, 'team:write': true, 'team:deep:think': true },
    'code:think': false,
  });
});

test('can be a breakpoint, before and after it', async () => {
  const thread_id = await http.thread();
  const stops = { interrupt_before: ['team:write'], interrupt_after: ['team:last'] };
  await run(thread_id, { input: {}, ...stops });
  expect(await stateWithin(thread_id, 1)).toMatchObject({ values: { ran: ['begin'] }, next: ['write'] });
  await run(thread_id, { input: null, ...stops });
  expect(await stateWithin(thread_id, 1)).toMatchObject({
    values: { ran: ['begin', 'write ', 'last'] },
    next: [],
  });
  const { status, executed } = await run(thread_id, { input: null });
  expect([status, executed]).toEqual(['success', expect.arrayContaining(['team', 'code', 'after'])]);
});
