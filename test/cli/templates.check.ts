import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { naming } from '../support/naming.ts';
import { needs } from '../support/needs.ts';
import { agentServer, PROGRAM } from '../support/program.ts';
import { PACKAGES, type Project, project } from '../support/project.ts';
import { startServer } from '../support/server.ts';

const run = promisify(execFile);
const EMAIL = 'Tell ada@example.com that lunch is at one';

/** For the tests of this `describe`: one project, and what `init` printed. Its properties are there when tests begin. */
function useProjectOf(template: string): Project & { readonly made: string } {
  const used: Partial<Project & { made: string }> = {};
  beforeAll(async () => {
    Object.assign(used, await project({}));
    const made = await agentServer(['init', '--template', template], { cwd: used.root as string });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    used.made = made.stdout;
  });
  afterAll(() => used[Symbol.asyncDispose]?.());
  return used as Project & { made: string };
}

/** Runs a program of the packages in the project. */
const bin = (cwd: string, name: string, ...args: string[]) =>
  run(process.execPath, [join(PACKAGES, name), ...args], { cwd });

describe.each([
  ['agent', 'What time is it in Europe/Berlin?', /\d\d:\d\d/],
  ['deep-agent', 'What can I do in the old town when it rains?', /old-town\.md: .*covered market/],
  ['chat', 'Hello', /ada@example\.com/],
])('init --template %s', (template, question, answer) => {
  const place = useProjectOf(template);

  test('creates a project that is green: it can be checked, its types fit, and its own tests pass', async () => {
    expect(await agentServer(['check'], { cwd: place.root })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ {2}ok {6}agent {2}/),
    });
    await bin(place.root, 'typescript/bin/tsc');
    expect((await run(process.execPath, ['--test'], { cwd: place.root })).stdout).toMatch(
      /pass 2\b[\s\S]*fail 0\b/,
    );
  });

  test('creates an agent that streams its answer in many pieces without a model', async () => {
    await using server = await startServer({ config: place.path('agent.config.yaml') });
    const client = new Client({ apiUrl: server.url });
    const input = { messages: [{ role: 'user', content: question }] };

    const pieces: string[] = [];
    const stream = client.runs.stream(null, 'agent', { input, streamMode: 'messages-tuple' });
    for await (const { event, data } of stream) {
      if (event !== 'messages') continue;
      const { type, content } = data[0] as { type: string; content: unknown };
      if (type === 'AIMessageChunk' && content !== '') pieces.push(String(content));
    }

    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.join('')).toMatch(answer);
  });

  test('creates a Dockerfile, a workflow and a README, and names its question among the next steps', async () => {
    const workflow = await readFile(place.path('.github/workflows/test.yml'), 'utf8');
    const { scripts } = JSON.parse(await readFile(place.path('package.json'), 'utf8'));
    for (const [, script] of workflow.matchAll(/npm run (\w+)$/gm))
      expect(scripts).toHaveProperty(script as string);
    expect(await readdir(place.root)).toEqual(
      expect.arrayContaining(['.dockerignore', 'Dockerfile', 'README.md']),
    );
    const [, asked] = /ask agent "(.*)"/.exec(place.made) ?? [];
    expect(await readFile(place.path('README.md'), 'utf8')).toContain(`ask agent "${asked}"`);
  });
});

test('init refuses an unknown template and names those that exist', async () => {
  await using place = await project({});
  const before = await readdir(place.root);

  expect(await agentServer(['init', '--template', 'cat'], { cwd: place.root })).toEqual({
    code: 2,
    stdout: '',
    stderr: naming('agent-server: init: ', '"cat"', 'agent, deep-agent, chat'),
  });
  expect(await readdir(place.root)).toEqual(before);
});

test.each(['langgraph.json', 'src/agent.ts'])(
  'init refuses a template in a project that has an agent already: %s',
  async (file) => {
    await using place = await project({ [file]: '{}' });
    const before = await readdir(place.root);

    expect(await agentServer(['init', '--template', 'chat'], { cwd: place.root })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: naming('agent-server: init: ', place.root, '--template'),
    });
    expect(await readdir(place.root)).toEqual(before);
  },
);

test.each([
  ['a number', '2\n', 'deepagents'],
  ['a name, after a wrong answer', '7\nchat\n', '@langchain/react'],
  ['an empty line', '\n', undefined],
])('at a terminal init asks for the template: %s', async (_, typed, dependency) => {
  needs('script');
  await using place = await project({});
  const line = `'${process.execPath}' '${PROGRAM}' init app`;
  const child = run('script', ['--quiet', '--return', '--command', line, '/dev/null'], { cwd: place.root });
  child.child.stdin?.end(typed);
  expect((await child).stdout).toContain('deep-agent');

  const { dependencies, devDependencies } = JSON.parse(
    await readFile(place.path('app/package.json'), 'utf8'),
  );
  const added = ['deepagents', '@langchain/react'].filter((name) =>
    Object.keys({ ...dependencies, ...devDependencies }).includes(name),
  );
  expect(added).toEqual(dependency === undefined ? [] : [dependency]);
});

describe.runIf(hasBrowser)('the page of the template chat (needs Debian package chromium)', () => {
  const place = useProjectOf('chat');
  beforeAll(async () => {
    await bin(place.root, 'typescript/bin/tsc', '-p', 'web');
    await bin(place.root, 'vite/bin/vite.js', 'build', 'web');
  });

  test('asks before an e-mail is sent, with its arguments to edit, also after a reload', async () => {
    await using server = await startServer({ config: place.path('agent.config.yaml') });
    await using browser = await openBrowser();
    const page = await browser.newPage();

    await page.goto(server.url);
    await page.getByRole('textbox', { name: 'Message' }).fill(EMAIL);
    await page.getByRole('button', { name: 'Send' }).click();
    const approval = page.getByRole('region', { name: 'Approval' });
    await approval.waitFor();
    await page.reload();
    await approval.getByLabel('text').fill('lunch is at two');
    await approval.getByRole('button', { name: 'Approve' }).click();

    await page.getByText('The e-mail to ada@example.com was sent: lunch is at two').first().waitFor();
    expect(await approval.count()).toBe(0);
  });

  test('asks for a key where the server requires one', async () => {
    await using server = await startServer({
      config: place.path('agent.config.yaml'),
      env: { AGENT_SERVER_API_KEYS: 'key-of-the-page' },
    });
    await using browser = await openBrowser();
    const page = await browser.newPage();
    const say = async () => {
      await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
      await page.getByRole('button', { name: 'Send' }).click();
    };

    await page.goto(server.url);
    await say();
    await page.getByLabel('API key').fill('key-of-the-page');
    await page.getByRole('button', { name: 'Try again' }).click();
    await say();
    await page.getByText('I have no model yet').first().waitFor();
  });
});
