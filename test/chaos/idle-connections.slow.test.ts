import { describe, expect, test } from 'vitest';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { sql } from '../../src/db/sql.ts';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { POSTGRES_BINARIES, startPostgres } from '../support/postgres-server.ts';
import { createThread } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { type ChaosServer, startChaosServer } from './server.ts';

const ECHO = { assistant_id: 'ten-steps', input: { n: 9 } };

/** Requests of all kinds at once: reads, writes on their own, transactions and whole runs. */
async function sendMany(http: HttpClient, count: number) {
  const thread_id = await createThread(http);
  const requests = [
    () => http.send('GET', `/threads/${thread_id}`),
    () => http.send('POST', '/threads', { body: { metadata: { a: 1 } } }),
    () => http.send('POST', '/threads/search', { body: {} }),
    () => http.send('PUT', '/store/items', { body: { namespace: ['a'], key: 'k', value: { n: 1 } } }),
    () => http.send('PATCH', `/threads/${thread_id}`, { body: { metadata: { b: 2 } } }),
    () => http.send('POST', '/runs/wait', { body: ECHO }),
    () => http.send('GET', '/ok?check_db=1'),
  ];
  const answers = Array.from({ length: count }, (_, index) => requests[index % requests.length]?.());
  const failed = (await Promise.all(answers)).filter((answer) => (answer?.status ?? 0) >= 300);
  return { sent: count, failed: failed.map((answer) => answer?.status) };
}

/** Ends all sessions, as a fail-over, an idle night or an administrator does. */
async function endSessions(db: Db): Promise<number> {
  const row = await db.get(sql`select count(pg_terminate_backend(pid)) as ${number('n')} from pg_stat_activity
    where pid <> pg_backend_pid() and backend_type = 'client backend'`);
  return row?.n ?? 0;
}

async function metric({ http, process }: ChaosServer, name: string): Promise<string[]> {
  const text = await (await fetch(`${process.url}/metrics`)).text();
  expect((await http.send('GET', '/ok')).status).toBe(200);
  return text.split('\n').filter((line) => line.startsWith(name));
}

describe.runIf(POSTGRES_BINARIES)('dead database connections', () => {
  test('are replaced: a hundred requests after the end of all sessions are answered', async () => {
    await using postgres = await startPostgres({ fsync: 'off' });
    await using db = openPostgres(postgres.url, { max_connections: 1 });
    await using server = await startChaosServer({ DATABASE_URI: postgres.url });
    // Who waits for one of its ten connections for three seconds gets 503.
    using http = httpClient(server.process.url, { connections: 16 });
    for (let round = 0; round < 3; round++) {
      expect(await sendMany(http, 40)).toEqual({ sent: 40, failed: [] });
      expect(await endSessions(db)).toBeGreaterThan(8);
      expect(await sendMany(http, 100)).toEqual({ sent: 100, failed: [] });
    }
    const pools = await metric(server, 'lg_api_pg_pool_max');
    expect(pools.toSorted()).toEqual([
      'lg_api_pg_pool_max{pool="requests"} 10',
      'lg_api_pg_pool_max{pool="work"} 8',
    ]);
    expect((await metric(server, 'agent_server_pg_pool_waiting')).every((line) => line.endsWith(' 0'))).toBe(
      true,
    );
  });

  test('lead to 503 with Retry-After until the database is back', async () => {
    await using postgres = await startPostgres({ fsync: 'off' });
    await using server = await startChaosServer({ DATABASE_URI: postgres.url });
    const thread_id = await createThread(server.http);
    await postgres.stop();
    for (const [method, path] of [
      ['GET', `/threads/${thread_id}`],
      ['GET', '/ok?check_db=1'],
      ['POST', '/threads'],
      ['POST', `/threads/${thread_id}/runs`],
    ] as const) {
      const answer = await server.http.send(method, path, method === 'POST' ? { body: ECHO } : {});
      expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '1']);
    }
    expect((await server.http.send('GET', '/ok')).status).toBe(200);
    await postgres.start();
    await until('it answers', async () => (await server.http.send('GET', '/ok?check_db=1')).status === 200);
    expect(await sendMany(server.http, 20)).toEqual({ sent: 20, failed: [] });
  });
});
