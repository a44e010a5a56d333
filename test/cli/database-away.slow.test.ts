import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { makeDataFolder } from '../support/data-folder.ts';
import { freePort } from '../support/free-port.ts';
import { POSTGRES_BINARIES, startPostgres } from '../support/postgres-server.ts';
import { agentServer, program } from '../support/program.ts';
import { project } from '../support/project.ts';
import { TestServer } from '../support/server-process.ts';

const FILES = {
  'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }',
  'a.mjs': 'export const graph = { stream() {}, getState() {} };\n',
};

/** Of a database that nobody has started yet. */
const awayUrl = async () => `postgres://me:do-not-show@127.0.0.1:${await freePort()}/agents`;

const complaint = (url: string) =>
  `The database cannot be used. ${url.replace('me:do-not-show', '***')}: connection refused, nothing listens there ("storage.url", DATABASE_URI)`;

test.runIf(POSTGRES_BINARIES)(
  'a server that starts before its database logs that once and waits',
  async () => {
    await using database = await startPostgres();
    await database.stop();
    await using server = new TestServer({}, await makeDataFolder(), {
      url: database.url,
      [Symbol.asyncDispose]: async () => {},
    });
    const message = `${complaint(database.url).replace('postgres@', '***@')}. Waiting for it.`;
    const waiting = server.untilLog(message);
    const ready = server.restart();
    await waiting;
    await database.start();
    await ready;

    const { thread_id } = await server.client.threads.create();
    expect((await server.client.threads.get(thread_id)).status).toBe('idle');
    expect(server.log.filter(({ level }) => level === 'warn').map((entry) => entry.message)).toEqual([
      message,
    ]);
  },
);

test('a server that waits for its database ends at once when it is stopped', async () => {
  await using folder = await project(FILES);
  const child = program(['start'], { cwd: folder.root, env: { DATABASE_URI: await awayUrl() } });
  const [line] = await once(createInterface(child.stdout), 'line');
  child.kill('SIGTERM');

  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(line).toContain('Waiting for it.');
  expect(line).not.toContain('do-not-show');
});

test('a server exits with the reason when its database stays unavailable', async () => {
  await using folder = await project(FILES);
  const url = await awayUrl();
  const { code, stdout, stderr } = await agentServer(['start'], {
    cwd: folder.root,
    env: { DATABASE_URI: url, AGENT_SERVER_DATABASE_WAIT_SECONDS: '1' },
  });

  expect(code).toBe(1);
  expect(stdout.match(/Waiting for it/g)).toHaveLength(1);
  expect(stderr).toBe(`agent-server: ${complaint(url)}\n`);
});
