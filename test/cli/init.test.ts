import { execFile } from 'node:child_process';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const readJson = async (file: string) => JSON.parse(await readFile(file, 'utf8'));

const FILES = [
  '.env',
  '.env.example',
  '.gitignore',
  'agent.config.yaml',
  'package.json',
  'src',
  'test',
  'tsconfig.json',
];

test('a new project has an agent that is served and a test that passes', async () => {
  await using place = await project({});
  const folder = place.path('My Agent');
  const { code, stdout } = await agentServer(['init', 'My Agent'], { cwd: place.root });

  expect(code).toBe(0);
  expect(stdout).toMatch(/created {2}package\.json[\s\S]*cd 'My Agent'\n {2}npm install\n {2}npm run dev/);
  expect((await readdir(folder)).sort()).toEqual(FILES);
  expect(await readJson(`${folder}/package.json`)).toMatchObject({ name: 'my-agent', private: true });
  expect(await agentServer(['check'], { cwd: folder })).toEqual({
    code: 0,
    stdout: '  ok      agent  ./src/agent.ts:agent\n',
    stderr: '',
  });
  const tested = await promisify(execFile)(process.execPath, ['--test'], { cwd: folder });
  expect(tested.stdout).toMatch(/pass 2\b[\s\S]*fail 0\b/);
});

test('a project that is there keeps what it has', async () => {
  const own = { name: 'mine', scripts: { dev: 'vite' }, dependencies: { zod: '^4.0.0' }, type: 'commonjs' };
  await using place = await project({ 'package.json': JSON.stringify(own), '.gitignore': 'mine\n' });
  const { stdout } = await agentServer(['init'], { cwd: place.root });

  expect(stdout).toMatch(/changed {2}package\.json/);
  expect(stdout).toMatch(/kept {5}\.gitignore/);
  expect(stdout).not.toMatch(/^ {2}cd /m);
  expect(await readFile(place.path('.gitignore'), 'utf8')).toBe('mine\n');
  expect(await readJson(place.path('package.json'))).toMatchObject({
    ...own,
    scripts: { dev: 'vite', start: 'agent-server start' },
    dependencies: { zod: '^4.0.0', langchain: expect.any(String), 'agent-server': expect.any(String) },
  });
});

test('what cannot be done is said in a line, exit code 2', async () => {
  await using place = await project({ 'package.json': '{', file: '' });

  const broken = await agentServer(['init'], { cwd: place.root });
  expect(broken).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/package\.json is not valid JSON\n$/),
  });
  const occupied = await agentServer(['init', 'file'], { cwd: place.root });
  expect(occupied).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^agent-server: init: cannot write to/),
  });
});

test.each([
  ["my agent's project", "cd 'my agent'\\''s project'"],
  ['$(date)', "cd '$(date)'"],
  ['plain/app_1.0', 'cd plain/app_1.0'],
])('the next steps are for a shell: %s', async (folder, step) => {
  await using place = await project({});
  const { stdout } = await agentServer(['init', folder], { cwd: place.root });
  expect(stdout).toContain(`\n  ${step}\n`);
});

test.each([
  ['is new enough when asked with all variables', '[ -n "$MANAGER" ] && echo v24.1.0', undefined],
  ['is too old', 'echo v18.20.0', '^24.0.0'],
  ['never answers', 'exec sleep 60', '^24.0.0'],
])("whether a project brings a Node of its own: the machine's %s", async (_, script, wanted) => {
  await using place = await project({ 'bin/node': `#!/bin/sh\n${script}\n` });
  await chmod(place.path('bin/node'), 0o755);
  const env = { MANAGER: 'yes', PATH: [place.path('bin'), process.env['PATH']].join(delimiter) };
  await agentServer(['init', 'app'], { cwd: place.root, env });
  const { devDependencies } = await readJson(place.path(join('app', 'package.json')));
  expect(devDependencies.node).toBe(wanted);
});

test('a new project asks for the versions that this repository is tested with', async () => {
  await using place = await project({});
  await agentServer(['init', 'app'], { cwd: place.root });
  const made = await readJson(place.path('app/package.json'));
  const { devDependencies: tested } = await readJson(`${ROOT}/package.json`);
  const names = ['@langchain/core', '@langchain/langgraph', 'langchain', 'typescript', '@types/node'];

  for (const name of names) {
    const wanted = made.dependencies[name] ?? made.devDependencies[name];
    expect([name, wanted.slice(1).split('.')[0]]).toEqual([name, tested[name].split('.')[0]]);
  }
});
