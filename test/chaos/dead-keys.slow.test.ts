import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import type { HttpClient } from '../support/http-client.ts';
import { createThread, listRuns, type RemoteRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { endLease, type Relayed, startRelayed } from './on-postgres.ts';
import { startChaosServer } from './server.ts';
import { IS_FULL } from './size.ts';
import { expectWhole, TEN_STEPS } from './ten-steps.ts';

const LEASE_MS = 20_000;

describe.runIf(TEST_POSTGRES_URI)('an Idempotency-Key', () => {
  test('of a process that died is released when its lease ends', async () => {
    await using relayed = await startRelayed();
    await using other = await startChaosServer({ DATABASE_URI: relayed.direct_url });
    const request = await killedWhileAnswering(relayed);
    // Nobody knows yet whether it is still being answered.
    expect((await request.send(other.http)).status).toBe(409);
    await endLease(relayed.db, request.pid);
    await expectOneRun(relayed, other.http, request);
  });

  test.runIf(IS_FULL)('of a process that died is released within the duration of a lease', async () => {
    await using relayed = await startRelayed();
    await using other = await startChaosServer({ DATABASE_URI: relayed.direct_url });
    const request = await killedWhileAnswering(relayed);
    const isFree = async () => (await request.send(other.http)).status !== 409;
    await until('the key is free', isFree, LEASE_MS + 1000);
    await expectOneRun(relayed, other.http, request);
  });

  test('of a request that failed because the database was unavailable is released at once', async () => {
    await using relayed = await startRelayed();
    const { relay, http } = relayed;
    const request = newRequest(await createThread(http));
    const held = relay.hold((sql) => sql.includes('insert into run_queue'));
    const first = request.send(http);
    await held;
    // Also for what the server would do about the key.
    relay.cut();
    expect((await first).status).toBe(503);
    relay.mend();
    await expectOneRun(relayed, http, request);
  });
});

/** A request to create a run, which is the same each time. */
function newRequest(thread_id: string) {
  const sent = { headers: { 'idempotency-key': randomUUID() }, body: TEN_STEPS };
  const send = (http: HttpClient) => http.send('POST', `/threads/${thread_id}/runs`, sent);
  return { thread_id, send };
}

/** The server has noted the key when it dies, and not yet made the run. */
async function killedWhileAnswering({ relay, server, http }: Relayed) {
  const request = newRequest(await createThread(http));
  const held = relay.hold((sql) => sql.includes('insert into run_queue'));
  const unanswered = request.send(http).catch((error: NodeJS.ErrnoException) => error.code);
  await held;
  const { pid } = server.process;
  await server.process.kill('SIGKILL');
  expect(await unanswered).toBe('ECONNRESET');
  return { ...request, pid };
}

async function expectOneRun(
  { db }: Relayed,
  http: HttpClient,
  { thread_id, send }: ReturnType<typeof newRequest>,
): Promise<void> {
  const { status, body } = await send(http);
  expect(status).toBe(200);
  const { run_id } = body as RemoteRun;
  expect((await listRuns(http, thread_id)).map((run) => run.run_id)).toEqual([run_id]);
  await expectWhole({ http, db }, { thread_id, run_id });
}
