import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentServer } from '../support/program.ts';
import { python } from '../support/python.ts';
import { blocksOf, callsOf, inProgram, inShell, NODE, ROOT } from './blocks.ts';
import { type Started, started } from './started.ts';

const README = blocksOf('README.md');

/** Without the spaces at the ends of lines, which a page cannot show. */
const shown = (output: string) => output.replace(/ +$/gm, '').trim();

/** The commands of the table, such as `ask` and `keys create`. */
const COMMANDS = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(
    /^\| `npx agent-server ([a-z]+(?: [a-z]+)?)\b.*?` \|/gm,
  ),
].map((match) => match[1] as string);

let server: Started;

beforeAll(async () => {
  server = await started('npm start');
});

afterAll(() => server?.[Symbol.asyncDispose]());

function only(language: string, pattern: RegExp): string {
  const found = README.filter((block) => block.language === language && pattern.test(block.text));
  expect(found).toHaveLength(1);
  return found[0]!.text.trim();
}

test('README: the first command prints what is shown', async () => {
  const command = only('sh', /^npx agent-server ask/);

  expect(shown(await inProgram('bash', ['-s'], `${command} --url ${server.url}`, server.url))).toBe(
    only('text', /Let me look/),
  );
});

test('README, curl: the last message is the answer', async () => {
  const [outcome, ...more] = await inShell(callsOf('README.md'), server.url);

  expect(more).toEqual([]);
  expect(outcome).toMatchObject({ statuses: [200], complaints: '' });
  const [, ...answer] = only('text', /Let me look/).split('\n');
  expect(shown(outcome?.output ?? '')).toBe(answer.join('\n'));
});

test('README: the first of the three commands creates a project', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-'));
  const [init = ''] = only('sh', /^npx agent-server init/).split('\n');
  await inProgram('bash', ['-s'], init.replace('../my-agent', join(folder, 'my-agent')), '');

  const { scripts } = JSON.parse(await readFile(join(folder, 'my-agent/package.json'), 'utf8'));
  expect(scripts).toMatchObject({ dev: expect.stringContaining('agent-server') });
  for (const file of ['agent.config.yaml', 'src/agent.ts', 'test/agent.test.ts', 'tsconfig.json'])
    expect(existsSync(join(folder, 'my-agent', file))).toBe(true);
  await rm(folder, { recursive: true });
});

test('README, JavaScript: prints the answer and no results of tools', async () => {
  const output = await inProgram(NODE, ['--input-type=module'], only('js', /new Client\(/), server.url);

  expect(output).toMatch(/time-off\.md says under "Time off: Carry-over"/);
  expect(output).not.toContain('"file"');
});

test.runIf(python)('README, Python', async () => {
  const output = await inProgram(python ?? '', ['-'], only('python', /get_sync_client/), server.url);

  expect(output).toMatch(/time-off\.md says under "Time off: Carry-over"/);
});

test('README: the addresses of MCP and A2A are those of their pages', async () => {
  const pages = ['README.md', 'docs/mcp.md', 'docs/a2a.md'];
  const [readme = '', mcp, a2a] = await Promise.all(pages.map((page) => readFile(join(ROOT, page), 'utf8')));

  expect(mcp).toContain(/claude mcp add [^`\n]+/.exec(readme)?.[0]);
  expect(a2a).toContain(/`(http:\S+\/a2a\/assistant\/)`/.exec(readme)?.[1]);
});

test.each(COMMANDS)('README: the command %s has help', async (command) => {
  expect(await agentServer([...command.split(' '), '--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Usage: agent-server/),
  });
});

test.each(['check', 'openapi', 'version'])('README: the command %s ends by itself', async (command) => {
  expect(COMMANDS).toContain(command);
  const { code, stdout } = await agentServer([command], { cwd: ROOT });
  expect(code).toBe(0);
  expect(stdout).not.toBe('');
});
