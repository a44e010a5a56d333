import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { serverUser } from './postgres-server.ts';
import { until } from './until.ts';

/** Debian's package installs it here; undefined without it. */
export const PGBOUNCER = ['/usr/sbin/pgbouncer'].find(existsSync);

/** A PgBouncer of the tests' own. */
export interface PgBouncer extends AsyncDisposable {
  /** A database of the server behind it, by way of it. */
  urlOf(database: string): string;
}

export interface PgBouncerOptions {
  /** Of `pgbouncer.ini`, beside or instead of those that a test needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Who may connect; the user of the server without a password if nobody is named. */
  readonly user?: { readonly name: string; readonly password: string };
}

/**
 * PgBouncer in transaction mode before a PostgreSQL. All else is the default of the package, so that what passes here
 * needs no setting such as `ignore_startup_parameters`.
 */
export async function startPgBouncer(
  target: string,
  { settings = {}, user: client }: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const { hostname, port: target_port, username } = new URL(target);
  const { name, password } = client ?? { name: username, password: '' };
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-pgbouncer-'));
  const port = await freePort();
  const all = {
    pool_mode: 'transaction',
    auth_type: 'trust',
    ...settings,
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_file: `${folder}/userlist.txt`,
    logfile: `${folder}/log`,
  };
  const configuration = [
    '[databases]',
    `* = host=${hostname} port=${target_port || 5432}`,
    '[pgbouncer]',
    ...Object.entries(all).map(([key, value]) => `${key} = ${value}`),
    '',
  ].join('\n');
  writeFileSync(join(folder, 'pgbouncer.ini'), configuration);
  writeFileSync(join(folder, 'userlist.txt'), `"${name}" "${password}"\n`);
  const user = serverUser();
  if (user) for (const path of [folder, ...FILES.map((name) => join(folder, name))]) own(path, user);
  // It refuses to run as root.
  const program = spawn(PGBOUNCER as string, ['--quiet', join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
    cwd: folder,
    ...user,
  });
  await until('PgBouncer listens', () => {
    if (program.exitCode !== null) throw new Error(readFileSync(join(folder, 'log'), 'utf8'));
    return accepts(port);
  });
  return {
    urlOf: (database) => `postgres://${name}${password && `:${password}`}@127.0.0.1:${port}/${database}`,
    async [Symbol.asyncDispose]() {
      program.kill('SIGTERM');
      if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const FILES = ['pgbouncer.ini', 'userlist.txt'];

function own(path: string, { uid, gid }: { uid: number; gid: number }): void {
  chownSync(path, uid, gid);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const answered = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answered;
}
