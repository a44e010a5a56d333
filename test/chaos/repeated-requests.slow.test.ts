import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listRuns } from '../support/remote-runs.ts';
import { startChaosServer } from './server.ts';

const REQUESTS = 40;

test('requests with an Idempotency-Key that are repeated across two kills create one run each', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const thread_ids = await Promise.all(
    Array.from({ length: REQUESTS }, async () => {
      const thread = await http.call<{ thread_id: string }>('POST', '/threads', {});
      return thread.thread_id;
    }),
  );
  const made = thread_ids.map(async (thread_id, index) => {
    await sleep(index * 10);
    return insist(thread_id);
  });
  for (let kill = 0; kill < 2; kill++) {
    await sleep(120);
    await server.process.kill('SIGKILL');
    await server.process.restart();
  }

  const run_ids = await Promise.all(made);
  const runs = await Promise.all(thread_ids.map((thread_id) => listRuns(http, thread_id)));
  expect(runs.map((of) => of.map(({ run_id }) => run_id))).toEqual(run_ids.map((run_id) => [run_id]));

  /** Sends the request again and again, as a client does that never learns what became of it, and twice more. */
  async function insist(thread_id: string): Promise<string> {
    const answers = new Set<string>();
    const headers = { 'idempotency-key': `run on ${thread_id}` };
    const body = { assistant_id: 'ten-steps', input: { n: 0 } };
    for (let answered = 0; answered < 3; ) {
      const sent = http.send('POST', `/threads/${thread_id}/runs`, { body, headers });
      const answer = await sent.catch(() => undefined);
      if (answer?.status !== 200) {
        await sleep(20);
        continue;
      }
      answers.add((answer.body as { run_id: string }).run_id);
      answered += 1;
    }
    expect(answers.size).toBe(1);
    return [...answers].join();
  }
});
