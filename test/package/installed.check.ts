import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { directPostgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import { command } from './command.ts';
import { emptyFolder } from './pack.ts';
import { installedProject, projectIn, writeProject } from './project.ts';
import { post, serving } from './serving.ts';

let folder: Awaited<ReturnType<typeof emptyFolder>>;
/** Where npm installed the package on Node 24. It contains programs of every Node, so that all serve from there. */
let root: string;
const tarball = inject('tarball');
const nodeOf = (major: number) => join(inject('programs'), `node-${major}`);

beforeAll(async () => {
  folder = await emptyFolder();
  root = join(folder.path, 'installed');
  await installedProject({ root, node: nodeOf(24), tarball });
});

afterAll(() => folder[Symbol.asyncDispose]());

test.each([24, 22])(
  'the installed package serves graphs on Node %i, and its command line works',
  async (major) => {
    const project = projectIn(root, nodeOf(major));
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));

    expect(await project.run('node --version')).toMatch(new RegExp(`^v${major}\\.`));
    expect(await project.run('npx agent-server --help')).toContain('Usage: agent-server <command>');
    expect(await project.run('npx agent-server version')).toBe(`${version}\n`);
    expect(await project.run('npx agent-server check')).toBe(
      '  ok      greeter     ./greeter.ts:graph\n  ok      nested      ./nested.ts:graph\n  ok      ui greeter  ./card.tsx\n',
    );
    const key = await project.run('npx agent-server keys create --name tests --scope run');
    expect(key).toMatch(/^ask_[\w-]{43}\n$/);

    await using server = await serving(project);
    expect((await fetch(`${server.url}/ok`)).status).toBe(200);
    const headers = { 'X-Api-Key': key.trim() };
    const answer = await post(
      server,
      '/runs/wait',
      { assistant_id: 'greeter', input: { name: 'Ada' } },
      headers,
    );
    expect(await answer.json()).toEqual({ name: 'Ada', greeting: 'Hello Ada!' });
    const run = { assistant_id: 'nested', input: {}, stream_mode: ['tools'], stream_subgraphs: true };
    const events = (await (await post(server, '/runs/stream', run, headers)).text()).match(
      /(?<=^event: tools)\|\w+/gm,
    );
    expect(events).toEqual(['|inner', '|inner']);
    expect(await server.stop()).toBe(0);
  },
);

test('what `copy` copies is served from the copy: on PostgreSQL, or in another file where there is no server for tests', async () => {
  const project = projectIn(root, nodeOf(24));
  const key = (await project.run('npx agent-server keys create --name mover')).trim();
  const headers = { 'X-Api-Key': key };
  await using first = await serving(project);
  const thread = await post(first, '/threads', {}, headers);
  const { thread_id } = (await thread.json()) as { thread_id: string };
  const run = { assistant_id: 'greeter', input: { name: 'Ada' } };
  await post(first, `/threads/${thread_id}/runs/wait`, run, headers);
  expect(await first.stop()).toBe(0);

  await using schema = TEST_POSTGRES_URI ? await directPostgresSchema(TEST_POSTGRES_URI) : undefined;
  const [from, to] = ['sqlite:.agent-server/server.db', schema?.url ?? 'sqlite:moved/server.db'];
  expect(await project.run(`npx agent-server copy --from ${from} --to ${to}`)).toMatch(/^copied \d+ rows/m);

  await using second = await serving({ ...project, env: { ...project.env, DATABASE_URI: to } });
  const state = await fetch(`${second.url}/threads/${thread_id}/state`, { headers });
  expect(await state.json()).toMatchObject({ values: { greeting: 'Hello Ada!' } });
  expect(await second.stop()).toBe(0);
});

test('the commands of the README for operators work where the package is installed', async () => {
  const project = projectIn(root, nodeOf(24));
  const key = (await project.run('npx agent-server keys create --name operator')).trim();
  expect(await project.run('npx agent-server keys list')).toContain('operator');
  expect(JSON.parse(await project.run('npx agent-server openapi'))).toMatchObject({ paths: {} });

  await using server = await serving(project);
  const headers = { 'X-Api-Key': key };
  const thread = await post(server, '/threads', {}, headers);
  const { thread_id } = (await thread.json()) as { thread_id: string };
  const run = { assistant_id: 'greeter', input: { name: 'Ada' } };
  const ended = await post(server, `/threads/${thread_id}/runs/wait`, run, headers);
  const run_id = ended.headers.get('content-location')?.split('/').at(-1);
  const asked = (command: string) =>
    project.run(`npx agent-server ${command} --url ${server.url} --key ${key}`);
  expect(await asked(`explain ${run_id}`)).toContain('success');
  await asked(`logs --run ${run_id}`);
  expect(await project.run('npx agent-server doctor')).toBe('nothing found\n');
  expect(await project.run('npx agent-server backup copy.db')).toContain('verified');
  expect(await server.stop()).toBe(0);

  expect(await project.run('npx agent-server restore copy.db --force')).toContain('restored');
  expect(await project.run('npx agent-server migrate')).toContain('up to date');
  const encrypted = { ...project.env, LANGGRAPH_AES_KEY: 'k'.repeat(32) };
  await command('npx', ['agent-server', 'encryption', 'rotate'], { cwd: root, env: encrypted });
});

test('`deploy` sends a folder to a server of the package, which builds and serves it', async () => {
  const app = join(folder.path, 'deployed');
  await writeProject(app, {
    // Those that are installed already, because to install more would tell nothing about the package.
    'package.json': JSON.stringify({
      type: 'module',
      scripts: { postinstall: `rm -rf node_modules && ln -s ${root}/node_modules node_modules` },
    }),
  });
  const key = 'key-of-the-operator';
  const project = projectIn(root, nodeOf(24));
  const data = { AGENT_SERVER_DATA_DIR: join(folder.path, 'data-of-deployments') };
  const env = { ...project.env, ...data, AGENT_SERVER_DEPLOYMENTS: 'true', AGENT_SERVER_API_KEYS: key };
  await using server = await serving({ ...project, env });

  const flags = `--name greetings --url ${server.url} --key ${key}`;
  const deployed = await project.run(`npx agent-server deploy ${app} ${flags}`);
  expect(deployed).toBe(`${server.url}/deployments/greetings\n`);
  const run = { assistant_id: 'greeter', input: { name: 'Ada' } };
  const answer = await post(server, '/deployments/greetings/runs/wait', run, { 'X-Api-Key': key });
  expect(await answer.json()).toEqual({ name: 'Ada', greeting: 'Hello Ada!' });
  expect(await project.run(`npx agent-server deployments list --url ${server.url} --key ${key}`)).toContain(
    'greetings',
  );
  expect(await server.stop()).toBe(0);
});

test('on an old Node the package names the required version and a command that installs it', async () => {
  const project = projectIn(root, nodeOf(20));

  expect(await project.run('npx agent-server --help')).toContain('Usage: agent-server <command>');
  expect(await project.run('npx agent-server start --help')).toContain('--port N');
  await expect(project.run('npx agent-server check')).rejects.toThrow(
    /ended with 2:\n[\s\S]*agent-server: .* 22\.19 .* 20\.[\d.]+: npm install --save-dev node@24/,
  );

  await project.run('npm install --save-dev node@24');
  expect(await project.run('npx agent-server check')).toContain('ok      greeter');
});

test('init from the tarball creates a project that can be tested, checked, served and asked', async () => {
  const node = nodeOf(22);
  const place = join(folder.path, 'by-init');
  await mkdir(place);
  const made = await projectIn(place, node).run(`npx --yes --package ${tarball} agent-server init app`);
  expect(made).toContain('cd app');

  const { env, ...app } = projectIn(join(place, 'app'), node);
  await app.run('npm install');
  expect(await app.run('npm test')).toMatch(/pass 2\b[\s\S]*fail 0\b/);
  expect(await app.run('npm run check')).toContain('ok      agent  ./src/agent.ts:agent');
  await using server = await serving({ ...app, env: { ...env, PORT: '0' } });
  const asked = await app.run(`npx agent-server ask agent time?in:Asia/Tokyo --url ${server.url}`);
  expect(asked).toMatch(/^It is .* at \d\d:\d\d\.\n$/);
  expect((await fetch(`${server.url}/docs/guides/README.md`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
});
