import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';

test.each([
  [['strat'], 'unknown command strat; did you mean start? (agent-server --help lists all)'],
  [['serve-everything'], 'unknown command serve-everything (agent-server --help lists all)'],
  [['start', '--prot', '80'], 'start: unknown flag --prot; did you mean --port?'],
  [['dev', '--bananas'], 'dev: unknown flag --bananas'],
  [['start', '--port'], 'start: --port needs a value'],
  [['start', 'agents'], 'start: unexpected argument "agents"'],
  [['version', '--help=yes'], 'version: --help takes no value'],
])('wrong usage prints one line and exits with 2: %j', async (args, line) => {
  expect(await agentServer(args)).toEqual({ code: 2, stdout: '', stderr: `agent-server: ${line}\n` });
});

test('a call without a command prints the list of commands', async () => {
  const [none, help] = await Promise.all([agentServer([]), agentServer(['--help'])]);

  expect(none.code).toBe(2);
  expect(help.code).toBe(0);
  expect(none.stdout).toBe(help.stdout);
  expect(help.stdout).toContain('Usage: agent-server <command> [flags]');
  for (const command of ['dev', 'start', 'check', 'openapi', 'version'])
    expect(help.stdout).toContain(`  ${command}`);
});

test('each command explains its flags', async () => {
  const { code, stdout } = await agentServer(['start', '--help']);

  expect(code).toBe(0);
  expect(stdout).toContain('Usage: agent-server start [--config FILE] [--port N] [--host H]');
});

test.each([
  ['keys', ['keys create', 'keys list', 'keys revoke']],
  ['encryption', ['encryption rotate']],
])('the group %s explains its commands', async (group, commands) => {
  const { code, stdout } = await agentServer([group, '--help']);

  expect(code).toBe(0);
  expect(stdout).toContain(`Usage: agent-server ${group} <command> [flags]`);
  for (const command of commands) expect(stdout).toContain(`  ${command}`);
  expect(stdout).not.toContain('  start');
});

test('version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));

  expect(await agentServer(['version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect((await agentServer(['--version'])).stdout).toBe(`${version}\n`);
});

test('openapi prints the document, or writes it to a file', async () => {
  await using folder = await project({});

  const printed = await agentServer(['openapi']);
  const written = await agentServer(['openapi', '--output', 'openapi.json'], { cwd: folder.root });

  expect(JSON.parse(printed.stdout)).toMatchObject({ openapi: '3.1.0' });
  expect(written).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await readFile(folder.path('openapi.json'), 'utf8')).toBe(printed.stdout);
});
