import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { text } from '../../../src/db/columns.ts';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  startDeploymentProcess,
  threeSteps,
  writeDeploymentServer,
} from '../../support/deployment-process.ts';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { PGBOUNCER, startPgBouncer } from '../../support/pgbouncer.ts';
import { directPostgresSchema, TEST_POSTGRES_URI } from '../../support/postgres-schema.ts';
import { PACKAGES } from '../../support/project.ts';
import { repository } from '../../support/repository.ts';
import { until } from '../../support/until.ts';

const URI = TEST_POSTGRES_URI as string;

const schemaOf = (id: string) => `deployment_${id.replaceAll('-', '')}`;

/** Schemas of these deployments. */
async function schemasOf(...ids: string[]): Promise<string[]> {
  await using db = openPostgres(URI);
  const rows = await db.all(sql`select nspname as ${text('name')} from pg_namespace order by nspname`);
  return rows.map(({ name }) => name).filter((name) => ids.map(schemaOf).includes(name));
}

describe.runIf(TEST_POSTGRES_URI)('deployments on PostgreSQL', () => {
  test('keep their own schema through a switch, a rollback and a restart, until they are deleted', async () => {
    await using database = await directPostgresSchema(URI);
    const folder = await mkdtemp(join(tmpdir(), 'agent-server-deployments-'));
    const options = { folder, database: database.url, deployments: { drain_timeout_seconds: 0 } };
    await using server = await openDeploymentServer(options);
    const { id } = await server.create('my-agent');
    const other = await server.create('other');
    const first = await server.deploy(id, threeSteps('one'));
    expect(first.status).toBe('DEPLOYED');
    await server.deploy(other.id, projectThat('other'));
    expect(await schemasOf(id, other.id)).toHaveLength(2);
    const base = '/deployments/my-agent';
    const { thread_id } = (await server.post(`${base}/threads`)).body;
    expect((await server.get(`/deployments/other/threads/${thread_id}`)).status).toBe(404);
    expect((await server.get(`/threads/${thread_id}`)).status).toBe(404);

    const gate = `${folder}/gate`;
    const run = { assistant_id: 'agent', input: { gate } };
    const answered = server.post(`${base}/threads/${thread_id}/runs/wait`, run);
    const state = async () => (await server.get(`${base}/threads/${thread_id}/state`)).body;
    await until('the first step is done', async () => (await state()).values?.done?.length === 1);
    await server.deploy(id, threeSteps('two'));
    const logged = (line: string) => until(line, () => server.log.some(({ message }) => message === line));
    await logged('handing runs over at their next checkpoint');
    await writeFile(`${gate}-1`, '');
    await logged('old revision stopped executing runs');
    await writeFile(`${gate}-2`, '');
    expect((await answered).body.done).toEqual(['one', 'one', 'two']);

    await server.post(`/v2/deployments/${id}/revisions/${first.id}/redeploy`);
    const [newest] = (await server.get(`/v2/deployments/${id}/revisions?limit=1`)).body.resources;
    expect((await server.ended(id, newest.id)).status).toBe('DEPLOYED');
    expect((await server.run('my-agent')).body.done).toEqual(['one', 'one', 'one']);

    await server.close();
    await using again = await openDeploymentServer(options);
    await until(
      'it serves again',
      async () => (await again.get(`${base}/threads/${thread_id}`)).status === 200,
    );

    await again.send('DELETE', `/v2/deployments/${id}`);
    expect(await schemasOf(id, other.id)).toEqual([schemaOf(other.id)]);
    const anew = await again.create('my-agent');
    await again.deploy(anew.id, threeSteps('three'));
    expect((await again.post(`${base}/threads/search`)).body).toEqual([]);
    for (const each of [anew.id, other.id]) await again.send('DELETE', `/v2/deployments/${each}`);
    expect(await schemasOf(anew.id, other.id)).toEqual([]);
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  test('refuse a second process, and are resumed after a kill', async () => {
    await using database = await directPostgresSchema(URI);
    const folder = await mkdtemp(join(tmpdir(), 'agent-server-processes-'));
    await writeDeploymentServer(folder);
    await using sources = await repository(threeSteps('one'));
    await using first = await startDeploymentProcess(folder, { DATABASE_URI: database.url });
    const { body } = await first.send('POST', '/v2/deployments', {
      name: 'agent',
      source: 'github',
      source_config: { repo_url: sources.url, install_command: `ln -s ${PACKAGES} node_modules` },
      source_revision_config: { repo_ref: 'main' },
    });
    const status = async () =>
      (await first.send('GET', `/v2/deployments/${body.id}/revisions?limit=1`)).body.resources[0].status;
    await until('it is deployed', async () => (await status()) === 'DEPLOYED');
    await expect(startDeploymentProcess(folder, { DATABASE_URI: database.url })).rejects.toThrow(
      'deployments enabled',
    );

    const base = '/deployments/agent';
    const { thread_id } = (await first.send('POST', `${base}/threads`, {})).body;
    const gate = join(folder, 'gate');
    const run = { assistant_id: 'agent', input: { gate } };
    const { run_id } = (await first.send('POST', `${base}/threads/${thread_id}/runs`, run)).body;
    const state = async () => (await first.send('GET', `${base}/threads/${thread_id}/state`)).body;
    await until('the first step is done', async () => (await state()).values?.done?.length === 1);
    await first.server.kill('SIGKILL');
    await writeFile(`${gate}-1`, '');
    await writeFile(`${gate}-2`, '');
    await first.server.restart();
    await until('it serves again', async () => (await first.send('GET', `${base}/ok`)).status === 200);
    const joined = await first.send('GET', `${base}/threads/${thread_id}/runs/${run_id}/join`);
    expect(joined.body.done).toEqual(['one', 'one', 'one']);
    expect((await first.send('DELETE', `/v2/deployments/${body.id}`)).status).toBe(204);
    expect(await schemasOf(body.id)).toEqual([]);
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  test.runIf(PGBOUNCER)('refuse a connection pooler, which cannot select a schema', async () => {
    await using bouncer = await startPgBouncer(URI);
    await expect(openDeploymentServer({ database: bouncer.urlOf('postgres') })).rejects.toThrow(
      /"storage\.url".*pooler/,
    );
  });
});
