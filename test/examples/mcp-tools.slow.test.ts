import { afterAll, beforeAll, expect, test } from 'vitest';
import { pythonWith } from '../support/python.ts';
import { blocksOf, inProgram, NODE } from './blocks.ts';
import { type Started, started } from './started.ts';

const PYTHON = pythonWith('mcp.client.caching');
let server: Started;

beforeAll(async () => {
  server = await started('npm start');
});

afterAll(() => server[Symbol.asyncDispose]());

/** What a command of the page prints, with the client at the test's own server. */
function printed(command: string): Promise<string> {
  const code = command.replaceAll('npx node', `MCP_URL=${server.url}/mcp ${NODE}`);
  return inProgram('bash', ['-s'], `${code} 2>&1`, server.url);
}

const COMMANDS = blocksOf('docs/mcp.md')
  .filter(({ language, text }) => language === 'sh' && text.includes('mcp-tools'))
  .flatMap(({ text }) => text.trim().split('\n'));

test('docs/mcp.md, the client for the terminal', async () => {
  const [list, question, research, order, ...more] = COMMANDS;
  expect(more).toEqual([]);
  expect(await printed(list ?? '')).toMatch(/^assistant: .+\necho: .+\nresearch: /);
  expect(await printed(question ?? '')).toMatch(/opening-hours\.md[\s\S]*Saturday/);
  expect(await printed(research ?? '')).toMatch(/^… plan\n[\s\S]*topics: \[ 'heat pumps', 'insulation' \]/);
  expect(await printed(order ?? '')).toMatch(
    /May I call send_email[\s\S]*Decision on send_email \(approve\/reject\)[\s\S]*in the outbox/,
  );
  expect(await printed((order ?? '').replace('approve', 'reject'))).toMatch(/was rejected/);
});

test('docs/mcp.md, JavaScript', async () => {
  const [program] = blocksOf('docs/mcp.md').filter(({ language }) => language === 'js');
  const said = await inProgram(NODE, ['--input-type=module'], program?.text ?? '', server.url);
  expect(said).toMatch(/\[ 'assistant', 'echo', 'research' \][\s\S]*closed on Sunday/);
});

test.runIf(PYTHON)('docs/mcp.md, Python', async () => {
  const [program] = blocksOf('docs/mcp.md').filter(({ language }) => language === 'python');
  expect(await inProgram(PYTHON ?? '', ['-'], program?.text ?? '', server.url)).toMatch(/closed on Sunday/);
});

test('docs/mcp.md has the same configuration for VS Code and Cursor', () => {
  const [code, cursor] = blocksOf('docs/mcp.md')
    .filter(({ language }) => language === 'json')
    .map(({ text }) => JSON.parse(text));
  const { type, ...agents } = code.servers.agents;
  expect([type, agents]).toEqual(['http', cursor.mcpServers.agents]);
});
