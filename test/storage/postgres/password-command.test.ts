import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { passwordFrom, wordsOf } from '../../../src/db/engines/postgres-password.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { failure } from '../../support/naming.ts';
import { POSTGRES_BINARIES, startPostgres } from '../../support/postgres-server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-server-password-'));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A clock that stands still until it is moved. */
function stoppedClock() {
  let ms = 0;
  return {
    now: () => ms,
    monotonic: () => ms,
    move(by_ms: number) {
      ms += by_ms;
    },
  };
}

describe('a password command', () => {
  test('is split into words as by a shell, without expansion', () => {
    expect(wordsOf(`aws rds  "a b" 'c "d"' e\\ f $HOME "" "q\\"q"`)).toEqual([
      'aws',
      'rds',
      'a b',
      'c "d"',
      'e f',
      '$HOME',
      '',
      'q"q',
    ]);
  });

  test('is called again when the password is five minutes old, or was refused', async () => {
    const file = join(folder, 'calls');
    const clock = stoppedClock();
    const password = passwordFrom(`sh -c 'echo x >> ${file}; wc -l < ${file}'`, { clock });
    const numbers = async () => Number(await password.get());
    expect(await Promise.all([numbers(), numbers()])).toEqual([1, 1]);
    clock.move(4 * 60_000);
    expect(await numbers()).toBe(1);
    clock.move(61_000);
    expect(await numbers()).toBe(2);
    password.forget();
    expect(await numbers()).toBe(3);
  });

  test.each([
    ['no-such-program --token hunter2', 'the password command no-such-program was not found'],
    ["sh -c 'echo hunter2; echo hunter2 >&2; exit 3'", 'the password command sh ended with exit code 3'],
    ["sh -c 'exit 0' hunter2", 'the password command sh printed no password'],
    ['sleep 60', 'the password command sleep took longer than 0.05 s'],
  ])('reports the failure of %s without its arguments and output', async (command, message) => {
    const failed = passwordFrom(command, { timeout_ms: command === 'sleep 60' ? 50 : 10_000 }).get();
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message });
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('hunter2');
  });

  test('that fails once is called again', async () => {
    const file = join(folder, 'later');
    const password = passwordFrom(`cat ${file}`);
    await expect(password.get()).rejects.toThrow('exit code 1');
    await writeFile(file, 'secret\n');
    expect(await password.get()).toBe('secret');
  });
});

describe.runIf(POSTGRES_BINARIES)('a server with password authentication', () => {
  test('gets the new password as soon as it refuses the old one', async () => {
    const [hba_file, token] = [join(folder, 'hba'), join(folder, 'token')];
    await writeFile(
      hba_file,
      'host all agents 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n',
    );
    await using server = await startPostgres({ hba_file, fsync: 'off' });
    await using admin = openPostgres(server.url);
    const change = async (password: string) => {
      await admin.run(raw(`alter role agents password '${password}'`));
      await writeFile(token, `${password}\n`);
    };
    await admin.run(raw('create role agents login'));
    await change('first');
    const url = server.url.replace('postgres@', 'agents@');
    await using db = openPostgres(url, { password: passwordFrom(`cat ${token}`), max_connections: 1 });
    expect(await db.get(sql`select current_user as name`)).toEqual({ name: 'agents' });

    await change('second');
    await admin.get(raw("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'agents'"));
    expect(await db.get(sql`select current_user as name`)).toEqual({ name: 'agents' });

    const wrong = { url, password_command: 'echo wrong', synchronous: 'full' } as const;
    await expect(openStorage(wrong)).rejects.toThrow(failure(Error, 'password rejected'));
    const missing = { url, password_command: 'no-such-program', synchronous: 'full' } as const;
    await expect(openStorage(missing)).rejects.toThrow(
      failure(Error, 'no-such-program', 'not found', 'storage.password_command'),
    );
  });
});
