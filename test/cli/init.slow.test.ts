import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, realpath, symlink } from 'node:fs/promises';
import { delimiter, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const readJson = async (file: string) => JSON.parse(await readFile(file, 'utf8'));

const FILES = [
  '.dockerignore',
  '.env',
  '.env.example',
  '.github',
  '.gitignore',
  'Dockerfile',
  'README.md',
  'agent.config.yaml',
  'package.json',
  'src',
  'test',
  'tsconfig.json',
];

test('init creates a project whose agent is served and whose test passes', async () => {
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

/** What `init` says of each file. */
function statesIn(stdout: string): Record<string, string> {
  const rows = stdout.matchAll(/^ +(created|changed|kept) +(\S+)$/gm);
  return Object.fromEntries([...rows].map(([, state = '', name = '']) => [name, state]));
}

test('init keeps the files of an existing project', async () => {
  const own = { scripts: { dev: 'vite' }, name: 'mine', dependencies: { zod: '^4.0.0' }, type: 'module' };
  await using place = await project({ 'package.json': JSON.stringify(own), 'tsconfig.json': '{}' });
  const { stdout } = await agentServer(['init'], { cwd: place.root });

  expect(statesIn(stdout)).toMatchObject({ 'package.json': 'changed', 'tsconfig.json': 'kept' });
  expect(stdout).not.toMatch(/^ {2}cd /m);
  expect(await readFile(place.path('tsconfig.json'), 'utf8')).toBe('{}');
  const made = await readJson(place.path('package.json'));
  expect(made).toMatchObject({
    ...own,
    scripts: { dev: 'vite', start: 'agent-server start', test: 'node --test' },
    dependencies: { zod: '^4.0.0', langchain: expect.any(String), 'agent-server': expect.any(String) },
  });
  expect(Object.keys(made).slice(0, 4)).toEqual(Object.keys(own));
});

test.each([{}, { type: 'commonjs' }])(
  'init refuses a CommonJS project and changes nothing: %j',
  async (type) => {
    const text = JSON.stringify({ name: 'mine', ...type });
    await using place = await project({ 'package.json': text });
    const before = await readdir(place.root);

    expect(await agentServer(['init'], { cwd: place.root })).toEqual({
      code: 2,
      stdout: '',
      stderr: naming('agent-server: init: ', 'package.json', 'CommonJS', '"type": "module"'),
    });
    expect(await readdir(place.root)).toEqual(before);
    expect(await readFile(place.path('package.json'), 'utf8')).toBe(text);
  },
);

test.each([
  ['langgraph.json', '{ "graphs": { "mine": "./mine.ts:graph" } }'],
  ['agent.config.yaml', 'graphs: { mine: ./mine.ts:graph }'],
])('init keeps the graphs of a project with %s', async (name, text) => {
  await using place = await project({ 'package.json': '{ "name": "mine" }', [name]: text });
  const { code, stdout } = await agentServer(['init'], { cwd: place.root });

  expect(code).toBe(0);
  const states = {
    'package.json': 'changed',
    [name]: 'kept',
    '.env.example': 'created',
    '.gitignore': 'created',
  };
  expect(statesIn(stdout)).toEqual(states);
  expect((await readdir(place.root)).sort()).toEqual([...Object.keys(states), 'node_modules'].sort());
  expect(stdout).toMatch(/Next:[\s\S]*npx agent-server check/);
  expect(stdout).not.toContain('ask agent');
  const made = await readJson(place.path('package.json'));
  expect(made).toMatchObject({ scripts: { check: 'agent-server check' } });
  expect(Object.keys(made)).not.toContain('type');
  expect(made.dependencies).not.toHaveProperty('langchain');
  expect(await readFile(place.path('.env.example'), 'utf8')).not.toContain('MODEL');
});

test('init serves an existing agent instead of creating that of the template', async () => {
  await using place = await project({ 'package.json': '{}', 'src/agent.ts': 'export const agent = 1;\n' });
  const { stdout } = await agentServer(['init'], { cwd: place.root });

  expect(statesIn(stdout)).toMatchObject({ 'agent.config.yaml': 'created', 'src/agent.ts': 'kept' });
  expect(await readdir(place.path('src'))).toEqual(['agent.ts']);
  expect(await readdir(place.root)).not.toContain('test');
  expect(stdout).toMatch(/npx agent-server check/);
  expect(await readFile(place.path('agent.config.yaml'), 'utf8')).not.toContain('Tells the time');
});

test('init leaves dependencies in the block of package.json that lists them', async () => {
  const own = {
    type: 'module',
    devDependencies: { 'agent-server': '^0.1.0', langchain: '^1.0.0' },
    peerDependencies: { '@langchain/core': '^1.1.0' },
    optionalDependencies: { zod: '^4.0.0' },
    dependencies: { typescript: '^6.0.0' },
  };
  await using place = await project({ 'package.json': JSON.stringify(own) });
  await agentServer(['init'], { cwd: place.root });
  const made = await readJson(place.path('package.json'));

  expect(Object.keys(made.dependencies)).toEqual(['@langchain/langgraph', 'typescript']);
  expect(made.devDependencies).toMatchObject(own.devDependencies);
  expect(made.devDependencies).not.toHaveProperty('typescript');
  expect(made).toMatchObject({ peerDependencies: own.peerDependencies });
});

test.each([
  [
    'four spaces',
    '{\n    "type": "module"\n}\n',
    /^\{\n {4}"type": "module",\n[\s\S]*\n {8}"dev"[\s\S]*\}\n$/,
  ],
  ['tabs', '{\n\t"type": "module"\n}', /^\{\n\t"type": "module",\n[\s\S]*\n\t\t"dev"[\s\S]*\}$/],
  ['a byte order mark', '\uFEFF{\r\n  "type": "module"\r\n}\r\n', /^\{\r\n {2}"type": "module",\r\n/],
])('init keeps the formatting of package.json: %s', async (_, text, form) => {
  await using place = await project({ 'package.json': text });
  expect(await agentServer(['init'], { cwd: place.root })).toMatchObject({ code: 0 });
  const made = await readFile(place.path('package.json'), 'utf8');
  expect(made).toMatch(form);

  const again = await agentServer(['init'], { cwd: place.root });
  expect(new Set(Object.values(statesIn(again.stdout)))).toEqual(new Set(['kept']));
  expect(await readFile(place.path('package.json'), 'utf8')).toBe(made);
});

test.each([
  ['mine', 'mine\nnode_modules\n.agent-server\n.env\n'],
  ['/node_modules/\r\n.env*\r\n', '/node_modules/\r\n.env*\r\n.agent-server\r\n'],
  ['node_modules\n.agent-server/\n!.env\n', undefined],
])('init adds the missing lines to .gitignore: %j', async (before, after) => {
  await using place = await project({ '.gitignore': before });
  const { stdout } = await agentServer(['init'], { cwd: place.root });
  expect(statesIn(stdout)['.gitignore']).toBe(after === undefined ? 'kept' : 'changed');
  expect(await readFile(place.path('.gitignore'), 'utf8')).toBe(after ?? before);
});

test('init below a symbolic link writes the path that npm resolves into package.json', async () => {
  await using place = await project({});
  await mkdir(place.path('far/away/from/here'), { recursive: true });
  await symlink(place.path('far/away/from/here'), place.path('link'));
  await agentServer(['init', 'link/app'], { cwd: place.root });
  const { dependencies } = await readJson(place.path('link/app/package.json'));

  const real = await realpath(place.path('link/app'));
  expect(dependencies['agent-server']).toBe(`file:${relative(real, ROOT)}`);
});

test.each([
  ["my agent's project", "cd 'my agent'\\''s project'"],
  ['$(date)', "cd '$(date)'"],
  ['plain/app_1.0', 'cd plain/app_1.0'],
])('init prints next steps that a shell can execute: %s', async (folder, step) => {
  await using place = await project({});
  const { stdout } = await agentServer(['init', folder], { cwd: place.root });
  expect(stdout).toContain(`\n  ${step}\n`);
});

test.each([
  ['what is no JSON', { 'package.json': '{' }, /\/package\.json is not valid JSON\n$/],
  ['an array', { 'package.json': '[]' }, /\/package\.json must be a JSON object\n$/],
  [
    'a block of words',
    { 'package.json': '{ "scripts": "dev" }' },
    /\/package\.json: "scripts" must be an object\n$/,
  ],
  [
    'a list of packages',
    { 'package.json': '{ "devDependencies": [] }' },
    /"devDependencies" must be an object\n$/,
  ],
  ['a folder', { 'package.json/file': '' }, /init: cannot read \S+\/package\.json \(EISDIR\)\n$/],
  [
    'a file for a folder',
    { test: '' },
    /init: cannot write to \S+\/test\/agent\.test\.ts \(\S+\/test is not a folder\)\n$/,
  ],
])('init writes nothing and exits with 2 when it cannot succeed: %s', async (_, files, message) => {
  await using place = await project(files as Record<string, string>);
  const before = await readdir(place.root);

  const { code, stderr } = await agentServer(['init'], { cwd: place.root });
  expect(stderr).toMatch(message);
  expect(stderr.split('\n')).toHaveLength(2);
  expect(code).toBe(2);
  expect(await readdir(place.root)).toEqual(before);
});

test('init refuses a file as the folder of a project', async () => {
  await using place = await project({ file: '' });
  expect(await agentServer(['init', 'file'], { cwd: place.root })).toMatchObject({
    code: 2,
    stderr: naming('agent-server: init: ', '/file/package.json', 'not a folder'),
  });
});

test('init refuses the folder of the server itself', async () => {
  const before = await readFile(`${ROOT}/package.json`, 'utf8');
  expect(await agentServer(['init'], { cwd: ROOT })).toMatchObject({
    code: 2,
    stderr: naming('agent-server: init: ', 'server itself'),
  });
  expect(await readFile(`${ROOT}/package.json`, 'utf8')).toBe(before);
});

test('init leaves a dangling link and writes nothing through it', async () => {
  await using place = await project({});
  await symlink(place.path('elsewhere'), place.path('.env'));
  const { code, stdout } = await agentServer(['init'], { cwd: place.root });

  expect(code).toBe(0);
  expect(statesIn(stdout)['.env']).toBe('kept');
  await expect(lstat(place.path('elsewhere'))).rejects.toThrow('ENOENT');

  await using broken = await project({});
  await symlink(broken.path('elsewhere'), broken.path('package.json'));
  expect(await agentServer(['init'], { cwd: broken.root })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/init: cannot read \S+\/package\.json \(ENOENT\)\n$/),
  });
});

test.each([
  ['is new enough when asked with all variables', '[ -n "$MANAGER" ] && echo v24.1.0', undefined],
  ['is too old', 'echo v18.20.0', '^24.0.0'],
  ['never answers', 'exec sleep 60', '^24.0.0'],
])('init adds Node to the dependencies only if needed: the machine has %s', async (_, script, wanted) => {
  await using place = await project({ 'bin/node': `#!/bin/sh\n${script}\n` });
  await chmod(place.path('bin/node'), 0o755);
  const env = { MANAGER: 'yes', PATH: [place.path('bin'), process.env['PATH']].join(delimiter) };
  await agentServer(['init', 'app'], { cwd: place.root, env });
  const { devDependencies } = await readJson(place.path(join('app', 'package.json')));
  expect(devDependencies.node).toBe(wanted);
});

test('a new project depends on the versions that this repository is tested with', async () => {
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
