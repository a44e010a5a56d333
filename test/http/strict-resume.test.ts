import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['interrupting', 'echo'] });
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

test('an answer to an interrupt that does not wait fails the run, and the thread is as it was', async () => {
  const { at, id } = await asking();
  const { updated_at: _before, ...thread } = (await http.get(at)).body;
  const { body: state } = await http.get(`${at}/state`);

  const { body } = await answer(at, { [UNKNOWN]: 'yes' }, true);

  expect(body).toEqual({
    __error__: {
      error: 'UnknownInterruptError',
      message: `No interrupt with id ${UNKNOWN} is pending. Pending: ${id}.`,
    },
  });
  expect((await http.get(at)).body).toMatchObject(thread);
  expect((await http.get(`${at}/state`)).body).toEqual(state);
  expect((await http.get(`${at}/runs?limit=1&select=status`)).body).toEqual([{ status: 'error' }]);
  expect((await answer(at, { [id]: 'yes' }, true)).body).toMatchObject({ log: ['a:1', 'b:"yes"'] });
});

test('an answer that comes twice fails the second time', async () => {
  const { at, id } = await asking();
  await answer(at, { [id]: 'yes' }, true);
  const { body } = await answer(at, { [id]: 'yes' }, true);
  expect(body.__error__).toMatchObject({
    error: 'UnknownInterruptError',
    message: expect.stringContaining('No interrupt is pending.'),
  });
});

test('without it, or without an id, nothing is strict', async () => {
  const { at } = await asking();
  expect((await answer(at, { [UNKNOWN]: 'yes' })).body.__error__).toBeUndefined();
  const other = await asking();
  expect((await answer(other.at, 'yes', true)).body).toMatchObject({ log: ['a:1', 'b:"yes"'] });
});
