import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['checked-answers'] });
afterAll(() => http[Symbol.asyncDispose]());

/** A thread that waits for two answers: the ids of the questions by node. */
async function asked() {
  const at = `/threads/${await http.thread()}`;
  await http.post(`${at}/runs/wait`, { assistant_id: 'checked-answers', input: {} });
  const { tasks } = (await http.get(`${at}/state`)).body;
  const idOf = (node: string): string =>
    tasks.find(({ name }: { name: string }) => name === node).interrupts[0].id;
  return {
    at,
    age: idOf('age'),
    name: idOf('name'),
    answer: async (resume: object) =>
      (await http.post(`${at}/runs/wait`, { assistant_id: 'checked-answers', command: { resume } })).body,
    next: async (): Promise<string[]> => (await http.get(`${at}/state`)).body.next,
    waiting: async () =>
      Object.values<{ id: string }[]>((await http.get(at)).body.interrupts).flatMap((asks) =>
        asks.map(({ id }) => id),
      ),
  };
}

test('an answer that violates the schema of its interrupt fails the run, and can be given again', async () => {
  const { at, age, name, answer, next, waiting } = await asked();
  expect(await waiting()).toEqual(expect.arrayContaining([age, name]));

  expect((await answer({ [age]: 'forty', [name]: 'Ann' })).__error__).toMatchObject({ error: '$ZodError' });
  expect((await http.get(`${at}/runs?limit=1&select=status`)).body).toEqual([{ status: 'error' }]);
  expect((await http.get(at)).body.status).toBe('interrupted');
  // The other question is answered.
  expect(await next()).toEqual(['age']);
  expect(await waiting()).toEqual([age]);

  expect(await answer({ [age]: 40 })).toEqual({ answers: ['age 40', 'name Ann'] });
  expect((await http.get(at)).body.status).toBe('idle');
});

test('two answers that violate their schemas leave both interrupts', async () => {
  const { age, name, answer, waiting } = await asked();
  expect((await answer({ [age]: 'forty', [name]: '' })).__error__).toMatchObject({ error: 'AggregateError' });
  expect(new Set(await waiting())).toEqual(new Set([age, name]));
  expect(await answer({ [age]: 40, [name]: 'Ann' })).toEqual({ answers: ['age 40', 'name Ann'] });
});
