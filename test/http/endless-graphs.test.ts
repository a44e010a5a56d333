import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

const http = await openApp({ graphs: ['circle', 'echo'] });
afterAll(() => http[Symbol.asyncDispose]());

const LIMIT = 10_000;

test.each([
  ['async', ['values']],
  ['sync', ['values']],
  ['exit', ['values']],
  ['async', ['events']],
  ['async', ['debug', 'tasks']],
])(
  'a graph that never waits does not keep other runs from executing (durability %s, streaming %s)',
  async (durability, stream_mode) => {
    const thread_id = await http.thread();
    const body = {
      assistant_id: 'circle',
      input: { n: 0 },
      config: { recursion_limit: LIMIT },
      durability,
      stream_mode,
    };
    const { run_id } = (await http.post(`/threads/${thread_id}/runs`, body)).body;
    const at = `/threads/${thread_id}/runs/${run_id}`;
    const status = async () => (await http.get(at)).body.status;
    await until('the run executes', async () => (await status()) !== 'pending');

    expect((await http.get('/ok')).status).toBe(200);
    const beside = await http.post('/runs/wait', { assistant_id: 'echo', input: { x: 1 } });
    expect(beside.body).toMatchObject({ x: 1 });
    // Had they waited for its end, it would be over.
    expect(await status()).toBe('running');

    expect((await http.post(`${at}/cancel?wait=1`)).status).toBe(200);
    expect(await status()).toBe('interrupted');
    const { values } = (await http.get(`/threads/${thread_id}/state`)).body;
    expect(values.n ?? 0).toBeLessThan(LIMIT);
  },
);
