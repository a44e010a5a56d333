import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { expect, test } from 'vitest';
import { naming } from '../support/naming.ts';
import { POSTGRES_BINARIES, startPostgres } from '../support/postgres-server.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';

const FILES = {
  'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }',
  'a.mjs': 'export const graph = { stream() {}, getState() {} };\n',
};

/** What `start` says of a database, and that no password is in it. */
async function complaintAbout(url: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  await using folder = await project(FILES);
  const { code, stdout, stderr } = await agentServer(['start'], {
    cwd: folder.root,
    env: { DATABASE_URI: url, ...env },
  });
  expect(code).toBe(1);
  expect(stdout + stderr).not.toContain('do-not-show');
  return stderr;
}

/** Of a server that may not wait for its database. */
const NO_WAIT = { AGENT_SERVER_DATABASE_WAIT_SECONDS: '0' };

const line = (reason: string) =>
  `agent-server: The database cannot be used. ${reason} ("storage.url", DATABASE_URI)\n`;

test.each([
  ['127.0.0.1:1', 'connection refused, nothing listens there'],
  ['no-such-host.invalid:5432', 'the host name cannot be resolved (DNS)'],
])('a database at %s fails with one line that names the reason', async (host, reason) => {
  expect(await complaintAbout(`postgres://me:do-not-show@${host}/agents`, NO_WAIT)).toBe(
    line(`postgres://***@${host}/agents: ${reason}`),
  );
});

test('a database that closes the connection is reported in one line', async () => {
  await using closing = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(closing, 'listening');
  const host = `127.0.0.1:${(closing.address() as AddressInfo).port}`;

  expect(await complaintAbout(`postgres://me:do-not-show@${host}/agents`, NO_WAIT)).toMatch(
    /^agent-server: .* closed .*\n$/,
  );
});

test.runIf(POSTGRES_BINARIES)('a rejection by PostgreSQL is reported with its own message', async () => {
  await using server = await startPostgres();
  const { host } = new URL(server.url);

  expect(await complaintAbout(`postgres://me:do-not-show@${host}/agents`)).toEqual(
    naming(`postgres://***@${host}/agents: `, 'password rejected: role "me" does not exist'),
  );
  expect(await complaintAbout(`postgres://postgres:do-not-show@${host}/agents`)).toEqual(
    naming(`postgres://***@${host}/agents: `, 'database "agents" does not exist'),
  );
});

test.runIf(POSTGRES_BINARIES)('a database without free connections is reported', async () => {
  await using server = await startPostgres({ max_connections: '1', superuser_reserved_connections: '0' });
  const other = new pg.Client(server.url);
  await other.connect();
  const { host } = new URL(server.url);

  expect(await complaintAbout(server.url)).toEqual(
    naming(`postgres://***@${host}/postgres: `, 'too many connections: '),
  );
  await other.end();
});

test.each([
  ['/sys/agent-server/server.db', 'no permission to write in /sys/agent-server (EPERM)'],
  ['/dev/null/server.db', "EEXIST: file already exists, mkdir '/dev/null'"],
  ['/proc/agent-server/server.db', "ENOENT: no such file or directory, mkdir '/proc/agent-server'"],
])('a SQLite file in %s fails with one line that names the way out', async (path, reason) => {
  expect(await complaintAbout(`sqlite:${path}`)).toBe(
    `agent-server: The database ${path} cannot be opened: ${reason}. ` +
      'Set another "storage.url" or AGENT_SERVER_DATA_DIR.\n',
  );
});
