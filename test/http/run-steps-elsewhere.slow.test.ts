import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSteps } from '../../src/schemas/steps.ts';
import { openAppOfProcesses } from '../support/app-of-processes.ts';
import { TEST_POSTGRES_URI } from '../support/postgres-schema.ts';

const folder = resolve(import.meta.dirname, '../fixtures/recorded-graphs');

test.runIf(TEST_POSTGRES_URI)(
  'API processes report the current steps of a run in another process',
  async () => {
    await using server = await openAppOfProcesses({ graphs: ['waiting'], folder });
    const headers = { 'content-type': 'application/json' };
    const get = async (url: string) =>
      JSON.parse((await server.request({ method: 'GET', url, headers: {} })).text);
    const post = async (url: string, body: object) => {
      const payload = JSON.stringify(body);
      const { text } = await server.request({ method: 'POST', url, headers, payload });
      return text === '' ? undefined : JSON.parse(text);
    };
    const { thread_id } = await post('/threads', {});
    const { run_id } = await post(`/threads/${thread_id}/runs`, { assistant_id: 'waiting', input: {} });
    const read = (): Promise<RunSteps> => get(`/runs/${run_id}/steps`);
    const shortly = ({ current }: RunSteps) => current?.map(({ kind, name, status }) => [kind, name, status]);

    // Requests reach the two processes in turn, and neither executes runs.
    for (const _ of [1, 2]) {
      await expect
        .poll(async () => shortly(await read()))
        .toEqual([
          ['node', 'second', 'running'],
          ['model', 'CountingModel', 'success'],
        ]);
    }
    await expect.poll(async () => (await read()).current?.length).toBe(2);
    const [now] = (await read()).current ?? [];
    expect(now).toMatchObject({
      attempt: 1,
      ended_at: null,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    // A process that does not answer in time is left out.
    const summaryOf = (path: string) => async () => (await get(`${path}/explain`)).summary;
    await expect
      .poll(summaryOf(`/runs/${run_id}`))
      .toContain(` Now: node \`second\` since ${now?.started_at}.`);
    await expect.poll(summaryOf(`/threads/${thread_id}`)).toContain(' Now: node `second` since ');

    await post(`/threads/${thread_id}/runs/${run_id}/cancel`, {});
    await expect
      .poll(async () => (await read()).steps[1])
      .toMatchObject({ name: 'second', span_id: now?.span_id });
    expect((await read()).current).toEqual([]);
  },
);
