import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['odd-values'] });
afterAll(() => http[Symbol.asyncDispose]());

const UNSTORABLE = [
  ['function', 'a function has no JSON'],
  ['symbol', 'a symbol has no JSON'],
  ['toJSON that returns nothing', 'an object whose toJSON returns nothing has no JSON'],
  ['bigint', 'it cannot be serialised to JSON'],
  ['nested bigint', 'it cannot be serialised to JSON'],
];

async function run(thread_id: string, want: string, options: object = {}) {
  const body = { assistant_id: 'odd-values', input: { want }, ...options };
  const answer = await http.post(`/threads/${thread_id}/runs/wait`, body);
  const [latest] = (await http.get(`/threads/${thread_id}/runs`)).body;
  return { answer: answer.body, status: latest.status };
}

const read = async (thread_id: string) => {
  const state = await http.get(`/threads/${thread_id}/state`);
  const history = await http.post(`/threads/${thread_id}/history`, { limit: 50 });
  const thread = await http.get(`/threads/${thread_id}`);
  expect([state.status, history.status, thread.status]).toEqual([200, 200, 200]);
  return { state: state.body, history: history.body, thread: thread.body };
};

describe.each(UNSTORABLE)('a node that returns a %s', (want, reason) => {
  test.each(['async', 'sync', 'exit'])(
    'fails its run and leaves the thread usable (durability %s)',
    async (durability) => {
      const thread_id = await http.thread();
      await run(thread_id, 'text');
      const before = await read(thread_id);

      const { answer, status } = await run(thread_id, want as string, { durability });

      expect(status).toBe('error');
      expect(answer.__error__.error).toBe('UnstorableValueError');
      expect(answer.__error__.message).toEqual(naming('"out"', reason as string));
      const after = await read(thread_id);
      expect(after.thread.status).toBe('error');
      expect(after.thread.values).toMatchObject({ out: 'a text', log: ['text'] });
      expect(after.state.values).toMatchObject({ out: 'a text', log: ['text'] });
      // What came before is all there, and nothing goes on from a checkpoint that is not.
      expect(after.history.slice(-before.history.length)).toEqual(before.history);
      expect(after.history.every(({ values }: { values: { out?: unknown } }) => values.out !== null)).toBe(
        true,
      );

      expect((await run(thread_id, 'text')).status).toBe('success');
      expect((await read(thread_id)).state.values.log).toEqual(['text', 'text']);
      expect(http.log.filter(({ message }) => message.includes('outside of any run'))).toEqual([]);
    },
  );
});

test('a step with an unstorable value is the last one that executes', async () => {
  const thread_id = await http.thread();
  const body = { assistant_id: 'odd-values', input: { want: 'function' }, stream_mode: ['updates'] };
  const { text } = await http.post(`/threads/${thread_id}/runs/stream`, body);
  expect(text).toContain('event: error');
  expect((await http.get(`/threads/${thread_id}/state`)).body.next).toEqual(['make']);
});

test.each(['a picture', 'a long list'])('%s next to a key of the serializer is stored', async (want) => {
  const thread_id = await http.thread();
  expect((await run(thread_id, want)).status).toBe('success');
  await read(thread_id);
});
