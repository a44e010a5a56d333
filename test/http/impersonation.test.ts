import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

test('runs of a cron have the authenticated user who created it', async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  const asked = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: {}, on_run_completed: 'keep' };
  const cron = (await server.post('/runs/crons', asked, ALICE)).body;
  expect(cron).toMatchObject({ user_id: 'alice', metadata: { owner: 'alice' } });
  expect((await server.post(`/runs/crons/${cron.cron_id}/trigger`, undefined, BOB)).status).toBe(404);
  const run = (await server.post(`/runs/crons/${cron.cron_id}/trigger`, undefined, ALICE)).body;
  expect(run.kwargs.config.configurable).toMatchObject({
    user_id: 'alice',
    langgraph_auth_user_id: 'alice',
    langgraph_auth_permissions: ['write'],
  });
  expect((await server.get(`/threads/${run.thread_id}`, ALICE)).body.metadata.owner).toBe('alice');
  expect((await server.get(`/threads/${run.thread_id}`, BOB)).status).toBe(404);
});

test('a subscriber of a missing thread gets no events once another user creates it', async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  const { url } = await server.app.listen();
  const thread_id = randomUUID();
  const listen = (headers: Record<string, string>) =>
    fetch(`${url}/threads/${thread_id}/stream/events`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"channels":["lifecycle","values"]}',
    });
  const [bob, alice] = await Promise.all([listen(BOB), listen(ALICE)]);
  expect([bob.status, alice.status]).toEqual([200, 200]);

  const start = { id: 1, method: 'run.start', params: { assistant_id: 'echo', input: {} } };
  const started = await server.post(`/threads/${thread_id}/commands`, start, ALICE);
  expect(started.body).toMatchObject({ type: 'success' });
  // His connection is closed without an event, hers has them.
  expect(await untilCut(bob)).not.toContain('data:');
  const reader = (alice.body as ReadableStream<Uint8Array>).getReader();
  let heard = '';
  while (!heard.includes('"completed"')) heard += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  expect((await listen(BOB)).status).toBe(404);
});

/** All that came before the server closed the connection. */
async function untilCut({ body }: Response): Promise<string> {
  let text = '';
  const chunks = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  try {
    for await (const chunk of chunks) text += chunk;
  } catch {
    // An event stream that has no end is cut.
  }
  return text;
}
