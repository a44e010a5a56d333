import { describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { connectClient } from '../../src/db/engines/postgres-client.ts';
import { sql } from '../../src/db/sql.ts';
import { POSTGRES_BINARIES, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { createThread, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { startChaosServer } from './server.ts';
import { expectWhole, TEN_STEPS, untilStep } from './ten-steps.ts';
import { violations } from './violations.ts';

/** One URL with both. */
function urlOf(...servers: PostgresServer[]): string {
  const hosts = servers.map(({ url }) => new URL(url).host);
  return `postgres://postgres@${hosts.join(',')}/postgres`;
}

describe.runIf(POSTGRES_BINARIES)('a primary and its streaming replica', () => {
  test('when the replica takes over, the server reconnects to it and its runs continue', async () => {
    // Synchronous, so that nothing that was acknowledged is missing on the replica.
    await using primary = await startPostgres({ synchronous_standby_names: "'*'" });
    await using replica = await startPostgres({}, { replica_of: primary });
    await using server = await startChaosServer({ DATABASE_URI: urlOf(replica, primary) });
    const client = await connectClient(urlOf(replica, primary), { application_name: 'one of its own' });
    const { rows } = await client.query('select pg_is_in_recovery() as is_replica');
    expect(rows).toEqual([{ is_replica: 0 }]);
    await client.end();

    const body = { ...TEN_STEPS, config: { configurable: { step_ms: 200 } } };
    const runs = await Promise.all(Array.from({ length: 5 }, () => startRun(server.http, body)));
    for (const run of runs) await untilStep(server.http, run, 3);

    await primary.stop();
    await replica.promote();
    await using db = openPostgres(replica.url);

    for (const run of runs) await expectWhole({ http: server.http, db }, run);
    expect(await violations(db)).toEqual({});
  });

  test('connections to a primary that becomes a replica are treated as lost', async () => {
    await using old = await startPostgres({ fsync: 'off' });
    await using replica = await startPostgres({}, { replica_of: old });
    await using server = await startChaosServer({ DATABASE_URI: urlOf(old, replica) });
    await createThread(server.http);
    await using admin = openPostgres(old.url);

    await replica.promote();
    // What an orchestrator does to the former primary; open connections stay.
    await admin.run(sql`alter system set default_transaction_read_only = on`);
    await admin.get(sql`select pg_reload_conf()`);
    await until('it refuses writes', async () => {
      const row = (await admin.get(sql`show transaction_read_only`)) as { transaction_read_only: string };
      return row.transaction_read_only === 'on';
    });

    await using db = openPostgres(replica.url);
    // Each connection of the server refuses writes only once its own backend has read the configuration again.
    await until('the server writes to the new primary', async () => {
      const thread_id = await createThread(server.http);
      return (await db.get(sql`select 1 from threads where thread_id = ${thread_id}`)) !== undefined;
    });
  });
});
