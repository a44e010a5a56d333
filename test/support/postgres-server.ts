import { execFile, execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

/** Where Debian keeps them; undefined when no server is installed. */
export const POSTGRES_BINARIES = newestBinaries('/usr/lib/postgresql');

/** A PostgreSQL of a test's own, which may be treated badly. */
export interface PostgresServer extends AsyncDisposable {
  /** Of an empty database; stays the same. */
  readonly url: string;
  /** Ends all processes at once, as a crash does: what was committed asynchronously may be gone. Then starts again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Makes a replica a primary. */
  promote(): Promise<void>;
}

/** What a server begins with. */
export interface PostgresOrigin {
  /** A primary, of which this becomes a streaming replica. */
  readonly replica_of?: PostgresServer;
}

/** `settings` of `postgresql.conf`; what is committed is on disk unless they say otherwise. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  { replica_of }: PostgresOrigin = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-postgres-'));
  const user = serverUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const port = await freePort();
  const data = ['--pgdata', folder];

  /** PostgreSQL refuses to run as root. Its output is a file: a pipe would be held open by the server. */
  async function run(program: 'initdb' | 'pg_basebackup' | 'pg_ctl', ...args: string[]): Promise<void> {
    const path = join(POSTGRES_BINARIES as string, program);
    await promisify(execFile)(path, args, { cwd: folder, ...user });
  }
  const given = Object.entries({ ...settings, listen_addresses: '127.0.0.1', port: String(port) });
  const options = [...given, ['unix_socket_directories', folder]].map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  const server: PostgresServer = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: () =>
      run('pg_ctl', 'start', '--wait', ...data, '--log', join(folder, 'log'), '--options', options.join(' ')),
    stop: () => run('pg_ctl', 'stop', '--wait', '--mode', 'fast', ...data),
    promote: () => run('pg_ctl', 'promote', '--wait', ...data),
    async crash() {
      await run('pg_ctl', 'stop', '--wait', '--mode', 'immediate', ...data);
      await server.start();
    },
    async [Symbol.asyncDispose]() {
      if (existsSync(join(folder, 'postmaster.pid'))) {
        await run('pg_ctl', 'stop', '--wait', '--mode', 'immediate', ...data);
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
  if (replica_of) await run('pg_basebackup', ...data, '--write-recovery-conf', '--dbname', replica_of.url);
  else await run('initdb', ...data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8');
  await server.start();
  return server;
}

function newestBinaries(root: string): string | undefined {
  if (!existsSync(root)) return undefined;
  const folders = readdirSync(root).map((version) => join(root, version, 'bin'));
  return folders.findLast((folder) => existsSync(join(folder, 'initdb')));
}

/** Undefined where the tests do not run as root. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (which: string) => Number(execFileSync('id', [which, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
