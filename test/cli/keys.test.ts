import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';

const CONFIG = { 'agent.config.yaml': 'graphs: { echo: "./echo.ts:graph" }\n' };

test('the commands for keys show a new key once, list it without its secret, and revoke it', async () => {
  await using folder = await project(CONFIG);
  const run = (...args: string[]) => agentServer(['keys', ...args], { cwd: folder.root });
  const created = await run('create', '--name', 'backend', '--scope', 'read', '--days', '30');
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ask_[\w-]{43}\n$/) });
  expect(created.stderr).toMatch(
    /^.* \S+server\.db: .+\n.* [0-9a-f-]{36} \(backend, scope read, expires .+\)\.\n.+\n$/,
  );

  const listed = await run('list');
  expect(listed.stdout).toMatch(
    /^ID {36}SCOPE {2}NAME {5}CREATED +STATUS +LAST USED\n[0-9a-f-]{36} {2}read {3}backend {2}\S+Z {2}expires \S+Z {2}never\n$/,
  );
  expect(listed.stdout).not.toContain(created.stdout.trim());

  const [id = ''] = listed.stdout.split('\n')[1]?.split(' ') ?? [];
  expect(await run('revoke', '--id', id)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await run('list')).stdout).toContain('revoked');
  expect(await run('revoke', '--id', id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already revoked'),
  });
});

test.each([['list'], ['revoke', '--id', '0197f3a0-0000-7000-8000-000000000000']])(
  'keys %s names the missing database instead of creating an empty one',
  async (...args) => {
    await using folder = await project(CONFIG);
    const file = folder.path('.agent-server/server.db');
    expect(await agentServer(['keys', ...args], { cwd: folder.root })).toEqual({
      code: 1,
      stdout: '',
      stderr: naming('no database', file, 'DATABASE_URI', 'AGENT_SERVER_DATA_DIR'),
    });
    expect(existsSync(file)).toBe(false);
  },
);

test('a key is not stored in the database', async () => {
  await using folder = await project(CONFIG);
  const { stdout } = await agentServer(['keys', 'create', '--name', 'backend'], { cwd: folder.root });
  const data = folder.path('.agent-server');
  const files = await readdir(data);
  expect(files).toContain('server.db');
  for (const file of files) {
    const content = await readFile(join(data, file)).catch(() => Buffer.alloc(0));
    expect([file, content.includes(stdout.trim())]).toEqual([file, false]);
  }
});

test.each([
  [['create'], 'keys create: --name is required, to distinguish the keys'],
  [
    ['create', '--name', 'a', '--scope', 'all'],
    'keys create: --scope must be read, run, admin or deployments:write',
  ],
  [['create', '--name', 'a', '--days', 'x'], 'keys create: --days must be a number of days, at most 36500'],
  [['revoke', '--id', 'x'], 'keys revoke: --id must be an id from keys list'],
  [['delete'], 'keys requires a subcommand: keys create, keys list, keys revoke'],
])('keys %j fails as wrong usage', async (args, line) => {
  await using folder = await project(CONFIG);
  const { code, stderr } = await agentServer(['keys', ...args], { cwd: folder.root });
  expect([code, stderr]).toEqual([2, `agent-server: ${line}\n`]);
});
