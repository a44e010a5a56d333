import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['interrupting', 'echo', 'parallel-send'] });
afterAll(() => http[Symbol.asyncDispose]());

const UNKNOWN = 'f'.repeat(32);

async function asking(): Promise<{ at: string; id: string }> {
  const at = `/threads/${await http.thread()}`;
  const { body } = await http.post(`${at}/runs/wait`, { assistant_id: 'interrupting', input: { x: 1 } });
  return { at, id: body.__interrupt__[0].id };
}

function answer(at: string, resume: unknown, strict_resume?: boolean) {
  return http.post(`${at}/runs/wait`, { assistant_id: 'interrupting', command: { resume }, strict_resume });
}

test('a strict answer to a missing interrupt fails the run and leaves the thread unchanged', async () => {
  const { at, id } = await asking();
  const { updated_at: _before, ...thread } = (await http.get(at)).body;
  const { body: state } = await http.get(`${at}/state`);

  const { body } = await answer(at, { [UNKNOWN]: 'yes' }, true);

  expect(body).toEqual({
    __error__: {
      error: 'UnknownInterruptError',
      message: `No interrupt with id ${UNKNOWN} is pending. Pending: ${id}.`,
      reason: 'not_pending',
      interrupt_ids: [UNKNOWN],
      pending_ids: [id],
    },
  });
  expect((await http.get(at)).body).toMatchObject(thread);
  expect((await http.get(`${at}/state`)).body).toEqual(state);
  expect((await http.get(`${at}/runs?limit=1&select=status`)).body).toEqual([{ status: 'error' }]);
  expect((await answer(at, { [id]: 'yes' }, true)).body).toMatchObject({ log: ['a:1', 'b:"yes"'] });
});

test('a strict answer that is sent twice fails the second time', async () => {
  const { at, id } = await asking();
  await answer(at, { [id]: 'yes' }, true);
  const { body } = await answer(at, { [id]: 'yes' }, true);
  expect(body.__error__).toMatchObject({
    error: 'UnknownInterruptError',
    message: expect.stringContaining('No interrupt is pending.'),
    reason: 'not_pending',
    interrupt_ids: [id],
    pending_ids: [],
  });
});

test('an answer without strict_resume, or without an id, is not checked', async () => {
  const { at } = await asking();
  expect((await answer(at, { [UNKNOWN]: 'yes' })).body.__error__).toBeUndefined();
  const other = await asking();
  expect((await answer(other.at, 'yes', true)).body).toMatchObject({ log: ['a:1', 'b:"yes"'] });
});

test('an empty map as a strict answer is refused, and the interrupt still waits', async () => {
  const { at, id } = await asking();
  const { body } = await answer(at, {}, true);
  expect(body.__error__).toMatchObject({
    error: 'UnknownInterruptError',
    reason: 'empty_map',
    interrupt_ids: [],
    pending_ids: [id],
  });
  expect((await http.post('/interrupts/answers/search', { thread_id: at.split('/').at(-1) })).body).toEqual(
    [],
  );
  expect((await answer(at, { [id]: 'yes' }, true)).body).toMatchObject({ log: ['a:1', 'b:"yes"'] });
});

test('a strict answer without an id to several interrupts is refused with the list of them', async () => {
  const at = `/threads/${await http.thread()}`;
  const assistant_id = 'parallel-send';
  const { body } = await http.post(`${at}/runs/wait`, { assistant_id, input: { items: [2, 3], ask: true } });
  const pending_ids = body.__interrupt__.map((each: { id: string }) => each.id).toSorted();
  const command = { resume: 10 };
  const refused = await http.post(`${at}/runs/wait`, { assistant_id, command, strict_resume: true });
  expect(refused.body.__error__).toMatchObject({
    error: 'UnknownInterruptError',
    reason: 'ambiguous',
    interrupt_ids: [],
    pending_ids,
  });
  expect((await http.get(at)).body.status).toBe('interrupted');
});

test('the refusal of a strict answer is in the error event of a stream and in the list of runs', async () => {
  const { at, id } = await asking();
  const command = { resume: { [UNKNOWN]: 'yes' } };
  const refusal = { reason: 'not_pending', interrupt_ids: [UNKNOWN], pending_ids: [id] };
  const body = { assistant_id: 'interrupting', command, strict_resume: true, stream_resumable: true };
  const { text } = await http.post(`${at}/runs/stream`, body);
  const [, data = ''] = text.split('event: error\r\ndata: ');
  expect(JSON.parse(data.split('\r\n')[0] ?? '')).toMatchObject({
    error: 'UnknownInterruptError',
    ...refusal,
  });
  const runs = await http.post('/runs/search', { status: 'error', limit: 1 });
  expect(runs.body[0].error).toMatchObject(refusal);
});
