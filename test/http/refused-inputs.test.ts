import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['zod-state', 'echo'] });
afterAll(() => http[Symbol.asyncDispose]());

const run = (assistant_id: string, input: object, more: object = {}) => ({ assistant_id, input, ...more });

test('an input that violates the schema of a graph is an error that names the fields', async () => {
  const { body } = await http.post('/runs/wait', run('zod-state', { topic: 5, words: ['a', 6] }));

  expect(body['__error__']).toEqual({
    error: 'InvalidInput',
    message: naming('topic: ', 'words.1: '),
  });
});

test.each([
  ['message', '"message" (did you mean "messages"?); expected one of "values", '],
  ['everything', '"everything"; expected one of "values", '],
])('the error for unknown stream mode %s suggests the nearest one', async (stream_mode, said) => {
  for (const asked of [stream_mode, [stream_mode]]) {
    const { status, body } = await http.post('/runs/wait', run('echo', {}, { stream_mode: asked }));

    expect(status).toBe(422);
    expect(body.detail).toMatch(/^stream_mode(\[0\])?: unknown value "/);
    expect(body.detail).toContain(said);
  }
});
