import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw } from '../../src/db/sql.ts';
import { freePort } from '../support/free-port.ts';
import { naming } from '../support/naming.ts';
import { POSTGRES_BINARIES, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { agentServer } from '../support/program.ts';

const CONFIG = join(import.meta.dirname, '../fixtures/graphs/agent.config.yaml');
const HBA = 'host all agents 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n';

/** Two databases that want the password which a command prints, on the second of two hosts. */
describe.runIf(POSTGRES_BINARIES)('commands get the password from storage.password_command', () => {
  let folder: string;
  let server: PostgresServer;
  let databases: (name: string) => string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-server-commands-'));
    const hba_file = `${folder}.hba`;
    await writeFile(hba_file, HBA, { mode: 0o644 });
    server = await startPostgres({ hba_file, fsync: 'off' });
    await using admin = openPostgres(server.url);
    await admin.run(raw("create role agents login password 'do-not-show'"));
    for (const name of ['one', 'two']) await admin.run(raw(`create database ${name} owner agents`));
    await writeFile(join(folder, 'token'), 'do-not-show\n');
    const [closed, { host }] = [await freePort(), new URL(server.url)];
    databases = (name) => `postgres://agents@127.0.0.1:${closed},${host}/${name}?sslmode=prefer`;
  });

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
    await rm(`${folder}.hba`, { force: true });
  });

  async function run(url: string, command: string, ...args: string[]) {
    const ended = await agentServer([command, ...args, '--config', CONFIG], {
      env: {
        DATABASE_URI: url,
        AGENT_SERVER_DATABASE_PASSWORD_COMMAND: `cat ${join(folder, 'token')}`,
      },
    });
    expect(ended.stdout + ended.stderr).not.toContain('do-not-show');
    return ended;
  }

  test('migrate, doctor, backup, restore and copy', async () => {
    const [one, two, file] = [databases('one'), databases('two'), join(folder, 'backup.db')];
    expect(await run(one, 'migrate')).toMatchObject({ code: 0, stderr: '' });
    expect(await run(one, 'doctor')).toMatchObject({ code: 0, stdout: 'nothing found\n' });
    expect(await run(one, 'keys', 'list')).toMatchObject({ code: 0, stderr: '' });
    expect(await run(one, 'backup', file)).toMatchObject({ code: 0 });
    expect(await run(two, 'restore', file)).toMatchObject({ code: 0, stderr: '' });
    const sqlite = `sqlite:${join(folder, 'copy.db')}`;
    expect(await run(one, 'copy', '--from', one, '--to', sqlite)).toMatchObject({ code: 0, stderr: '' });
    const back = await run(two, 'copy', '--from', sqlite, '--to', two);
    expect(back).toMatchObject({
      code: 0,
      stderr: '',
      stdout: naming('checksums'),
    });
  });

  test('and send it only to the configured server', async () => {
    const [one, two] = [databases('one'), databases('two')];
    const { code, stderr } = await run(
      one,
      'copy',
      '--from',
      two,
      '--to',
      `sqlite:${join(folder, 'other.db')}`,
    );
    expect(code).toBe(1);
    expect(stderr).toContain('password');
  });
});
