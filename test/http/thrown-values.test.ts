import { resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { generatedCases } from '../support/generated-cases.ts';
import { ODD_THROWS } from '../support/odd-throws.ts';
import { recipes } from '../support/thrown-values.ts';

const folder = resolve(import.meta.dirname, '../fixtures/throws');

let server: Awaited<ReturnType<typeof openApp>>;
beforeAll(async () => {
  server = await openApp({ graphs: ['odd'], folder });
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(Object.keys(ODD_THROWS))(
  'a node that throws %s ends its run as an error, at once',
  async (what) => {
    for (const rejects of [false, true]) {
      const thread_id = await server.thread();
      const input = { what, rejects };
      const stream_mode = ['values', 'tasks', 'debug'];
      const body = { assistant_id: 'odd', input, stream_mode };
      const streamed = await server.post(`/threads/${thread_id}/runs/stream`, body);
      expect(streamed.text).toContain('event: error');

      const [run] = (await server.get(`/threads/${thread_id}/runs`)).body;
      const explained = await server.get(`/threads/${thread_id}/runs/${run.run_id}/explain`);
      const thread = (await server.get(`/threads/${thread_id}`)).body;
      expect([run.status, thread.status, thread.error]).toEqual([
        'error',
        'error',
        { error: expect.any(String), message: expect.any(String) },
      ]);
      expect(explained.body.summary).toMatch(/with status error/);
      expect(streamed.text.match(/"attempt":\s*\d+/g)).toEqual(['"attempt":1']);
      expect((await server.get(`/threads/${thread_id}/state`)).status).toBe(200);
    }
  },
);

test('an error message that is not a string is reported as text, even in the state', async () => {
  const at = `/threads/${await server.thread()}`;
  const run = { assistant_id: 'odd', input: { what: 'a number too large as the message' } };
  const { body } = await server.post(`${at}/runs/wait`, run);
  expect(body.__error__).toEqual({ error: 'Error', message: '18446744073709551616' });
  expect((await server.get(`${at}/state`)).body.tasks).toMatchObject([
    { name: 'throws', error: 'Error: 18446744073709551616' },
  ]);
});

test('a node that throws a value that fails when it is read ends its run as an error', {
  timeout: 1_800_000,
}, async () => {
  const begin = server.log.length;
  const inputs = fc.sample(fc.record({ what: recipes(), rejects: fc.boolean() }), generatedCases(200));
  const body = (input: object) => ({ assistant_id: 'odd', input, stream_mode: ['values', 'tasks'] });
  const waiting = [...inputs];
  const client = async () => {
    for (let input = waiting.pop(); input; input = waiting.pop()) {
      const { status, body: result } = await server.post('/runs/wait', body(input));
      expect([input, status, result.__error__]).toEqual([input, 200, expect.anything()]);
    }
  };
  await Promise.all([client(), client(), client(), client()]);

  const lines = server.log.slice(begin).filter(({ level }) => level !== 'info');
  expect(lines.map(({ message, fields }) => [message, fields['attempt']])).toEqual(
    inputs.map(() => ['run failed', 1]),
  );
});
