import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { A2A_FOLDER as folder } from '../../support/a2a.ts';
import { type Part, senderTo, type Task } from '../../support/a2a-calls.ts';
import { openApp } from '../../support/app.ts';
import { naming } from '../../support/naming.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['interrupting', 'parallel-send', 'pauses-twice', 'mirror'] });
});

afterAll(() => server[Symbol.asyncDispose]());

/** What the graph got, which is what it puts out. */
function output({ artifacts = [] }: Task): Part {
  return artifacts.find(({ name }) => name === 'Output')?.parts[0]?.['data'];
}

function questionsIn({ status }: Task): { id: string; value: Part }[] {
  return status.message?.parts.flatMap(({ data }) => data?.interrupts ?? []) ?? [];
}

const PICTURE = { type: 'image', url: 'https://x.example/a.png', mimeType: 'image/png' };
const FILE = { type: 'file', data: 'aGk=' };

test.each([
  ['a value under "resume"', [{ data: { resume: [1, { a: null }] } }], [1, { a: null }]],
  ['nothing under "resume"', [{ data: { resume: false } }], false],
  ['another object', [{ data: { approved: true, resume: 'x' } }], { approved: true, resume: 'x' }],
  ['a text', [{ text: 'yes' }], 'yes'],
  ['texts', [{ text: 'yes,' }, { text: 'please' }], 'yes,\nplease'],
  ['another value', [{ data: ['a', 5] }], ['a', 5]],
  ['a file', [{ url: 'https://x.example/a.png', mediaType: 'image/png' }], [PICTURE]],
  ['a file next to a text', [{ text: 'This.' }, { raw: 'aGk=' }], [{ type: 'text', text: 'This.' }, FILE]],
  ['an object next to a text', [{ text: 'Here it is.' }, { data: { resume: 5 } }], 5],
])('the question of an A2A task is answered by %s', async (_name, parts, answer) => {
  const send = senderTo(server, 'interrupting');
  const asked = await send([{ data: { x: 1 } }]);
  expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const done = await send(parts, { message: { taskId: asked.id } });
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  expect(output(done)['log']).toEqual(['a:1', `b:${JSON.stringify(answer)}`]);
});

describe('several questions of an A2A task', () => {
  const ask = async () => {
    const send = senderTo(server, 'parallel-send');
    const asked = await send([{ data: { items: [2, 3], ask: true } }]);
    const ids = questionsIn(asked).map(({ id, value }) => ({ id, item: value['factor_for'] as number }));
    const answer = (data: object) => send([{ data }], { message: { taskId: asked.id } });
    return { asked, ids, answer };
  };

  test('are artifacts, and can be answered by their ids', async () => {
    const { asked, ids, answer } = await ask();
    expect(ids.map(({ item }) => item).sort()).toEqual([2, 3]);
    const shown = asked.artifacts?.filter(({ name }) => name === 'Interrupt');
    expect(shown?.map(({ parts }) => parts[0]?.['data'].id).sort()).toEqual(ids.map(({ id }) => id).sort());
    const done = await answer(Object.fromEntries(ids.map(({ id, item }) => [id, item * 10])));
    expect(output(done)['squares']).toEqual([80, 270]);
    expect(done.artifacts?.some(({ name }) => name === 'Interrupt')).toBe(false);
  });

  test('can be answered by a list of ids and values', async () => {
    const { ids, answer } = await ask();
    const done = await answer({ resume: ids.map(({ id, item }) => ({ id, value: item })) });
    expect(output(done)['squares']).toEqual([8, 27]);
  });

  test('keep waiting if the message does not answer them', async () => {
    const { ids, answer } = await ask();
    const [first, second] = ids;
    const half = await answer({ [String(first?.id)]: 1 });
    expect(half.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(questionsIn(half).map(({ id }) => id)).toEqual([second?.id]);
    const done = await answer({ [String(second?.id)]: 1 });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(output(done)['squares']).toEqual([4, 9]);
  });
});

test('an A2A task whose graph stopped between two nodes continues with any message', async () => {
  const send = senderTo(server, 'pauses-twice');
  const drafted = await send([{ text: 'tea' }]);
  expect(drafted.status).toMatchObject({
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { parts: [{ text: naming('breakpoint') }] },
  });
  const message = { taskId: drafted.id };
  const checked = await send([{ text: 'Go on' }], { message });
  expect(checked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const done = await send([{ data: { resume: null } }], { message });
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  expect(output(done)['done']).toEqual(['draft of tea', 'check', 'publish']);
});

test('an interrupt that asks to sign in has state auth-required, and is answered like any other', async () => {
  const send = senderTo(server, 'mirror');
  const question = { type: 'auth_required', url: 'https://example.com/sign-in', message: 'Please sign in.' };
  const asked = await send([{ data: { ask: question, answer: 'Signed in.' } }]);
  expect(asked.status).toMatchObject({
    state: 'TASK_STATE_AUTH_REQUIRED',
    message: { parts: [{ text: 'Please sign in.' }, { data: { interrupts: [{ value: question }] } }] },
  });
  const done = await send([{ text: 'done' }], { message: { taskId: asked.id } });
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  expect(done.artifacts).toMatchObject([{ parts: [{ text: 'Signed in.' }] }, { name: 'Output' }]);
});
