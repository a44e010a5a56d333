import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { developing } from '../support/developing.ts';
import { TEST_KEY } from '../support/encryption.ts';
import { PROGRAM } from '../support/program.ts';
import { type Project, project } from '../support/project.ts';
import { until } from '../support/until.ts';

/** Says `word` once more in each run of a thread. */
const graph = (word: string) => `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
${word}
const State = Annotation.Root({
  said: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});
export const graph = new StateGraph(State)
  .addNode('say', () => ({ said: [word] }))
  .addEdge(START, 'say').addEdge('say', END).compile();
`;
const CONFIG = 'graphs: { talker: "./src/talker.ts:graph" }\nserver: { port: 0 }\n';
const imported = { 'agent.config.yaml': CONFIG, 'src/talker.ts': graph("import { word } from './word.js';") };

const said = (values: unknown) => (values as { said: string[] }).said;

describe('a graph that imports a file and executes in the server', () => {
  let folder: Project;
  let server: Awaited<ReturnType<typeof developing>>;

  beforeAll(async () => {
    folder = await project({
      ...imported,
      'agent.config.yaml': `${CONFIG}hosts: { count: 0 }\n`,
      'src/word.ts': "export const word = 'old';",
    });
    server = await developing(folder);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  /** Changes the files, and waits until `dev` serves them. */
  async function restarted(files: Readonly<Record<string, string>>): Promise<void> {
    const before = server.restarts();
    await folder.write(files);
    await until('the server has restarted', () => server.restarts() === before + 1);
  }

  test('a change to a file that a graph imports is served, and threads keep their state', async () => {
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.wait(thread_id, 'talker', { input: {} });
    await restarted({ 'src/word.ts': "export const word = 'new';" });

    expect(said(await server.client.runs.wait(thread_id, 'talker', { input: {} }))).toEqual(['old', 'new']);
  });

  test('a graph that does not compile is reported, and served again once it is fixed', async () => {
    const wait = () => server.client.runs.wait(null, 'talker', { input: {} });

    await restarted({ 'src/word.ts': 'export const word = (;' });
    await expect(wait()).rejects.toThrow(/Graph 'talker' failed to load/);
    await restarted({ 'src/word.ts': "export const word = 'mended';" });

    expect(said(await wait())).toEqual(['mended']);
  });

  test('clients get 503 while a graph crashes the server, and are served again once it is fixed', async () => {
    await folder.write({ 'src/word.ts': 'process.exit(3);' });
    await until('the end is logged', () =>
      server.lines.some((line) => line.includes('the server ended with exit code 3')),
    );
    const answer = await fetch(`${server.url}/ok`);
    await restarted({ 'src/word.ts': "export const word = 'mended';" });

    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      detail: expect.stringMatching(
        /^The server ended with exit code 3 at [\d:]{8} UTC and restarts in \d+ s\. See its log\.$/,
      ),
    });
    expect(said(await server.client.runs.wait(null, 'talker', { input: {} }))).toEqual(['mended']);
  });

  test('no request is refused while the server restarts', async () => {
    const refused: unknown[] = [];
    let asking = true;
    const asked = (async () => {
      while (asking) {
        await fetch(`${server.url}/info`, { headers: { connection: 'close' } }).catch(({ cause }) => {
          if (cause.code === 'ECONNREFUSED') refused.push(cause);
        });
      }
    })();

    await restarted({ 'src/word.ts': "export const word = 'again';" });
    asking = false;
    await asked;

    expect(refused).toEqual([]);
  });

  test('files that no graph imports do not restart the server', async () => {
    const before = server.lines.length;
    await folder.write({ 'src/notes.ts': '// not part of it', 'src/word.txt': 'x', 'README.md': 'x' });
    await restarted({ 'src/word.ts': "export const word = 'other';" });

    expect(server.lines.slice(before).filter((line) => line.includes('changed'))).toEqual([
      expect.stringMatching(/changed, reloading \{"file":"src\/word\.ts"\}$/),
    ]);
  });
});

/** `second`: what its second node returns. */
const twoSteps = (second: string) => `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({
  said: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});
export const graph = new StateGraph(State)
  .addNode('first', () => ({ said: ['first'] })).addNode('second', () => ${second})
  .addEdge(START, 'first').addEdge('first', 'second').addEdge('second', END).compile();
`;

test('a run that hangs resumes from its last checkpoint when its code is edited, and finishes with the new code', async () => {
  const files = { 'agent.config.yaml': CONFIG, 'src/talker.ts': twoSteps('new Promise(() => {})') };
  await using folder = await project(files);
  await using server = await developing(folder);
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  const { run_id } = await runs.create(thread_id, 'talker', { input: {} });
  const isAt = async (node: string) => (await threads.getState(thread_id)).next.includes(node);
  await until('the run hangs in its second node', () => isAt('second'));

  await folder.write({ 'src/talker.ts': twoSteps("({ said: ['edited'] })") });

  const hasEnded = async () => (await runs.get(thread_id, run_id)).status === 'success';
  await until('the run has finished', hasEnded);
  expect(said((await threads.getState(thread_id)).values)).toEqual(['first', 'edited']);
});

test('a checkpointer that the server replaces is logged in a line', async () => {
  await using folder = await project({
    'agent.config.yaml': CONFIG,
    'src/talker.ts': graph(
      "import { MemorySaver } from '@langchain/langgraph';\nconst word = 'own';",
    ).replace('.compile()', '.compile({ checkpointer: new MemorySaver() })'),
  });
  await using server = await developing(folder);

  const noted = () => server.lines.filter((line) => line.includes('its own checkpointer is not used'));
  await until('the note is logged', () => noted().length > 0);
  expect(noted()).toEqual([expect.stringMatching(/ INFO: .* \{"graph_id":"talker"\}$/)]);
});

test('an invalid configuration is logged and leaves the server running; a valid one is applied', async () => {
  await using folder = await project({ ...imported, 'src/word.ts': "export const word = 'fine';" });
  await using server = await developing(folder);
  const names = async () => (await server.client.assistants.search()).map(({ name }) => name).sort();

  await folder.write({ 'agent.config.yaml': `${CONFIG}servr: 1\n` });
  await until('the problem is told', () =>
    server.lines.some((line) => line.includes('did you mean server?')),
  );
  expect(await names()).toEqual(['talker']);
  await folder.write({
    'agent.config.yaml': CONFIG.replace('{ talker', '{ other: "./src/talker.ts:graph", talker'),
  });
  await until('the server has restarted', () => server.restarts() === 1);

  expect(await names()).toEqual(['other', 'talker']);
});

test('a change of the .env file reaches the graphs', async () => {
  await using folder = await project({
    'agent.config.yaml': `${CONFIG}env: .env`,
    '.env': 'WORD=before',
    'src/talker.ts': graph('const word = process.env.WORD as string;'),
  });
  await using server = await developing(folder);

  await folder.write({ '.env': 'WORD=after' });
  await until('the server has restarted', () => server.restarts() === 1);

  expect(said(await server.client.runs.wait(null, 'talker', { input: {} }))).toEqual(['after']);
});

test('a change of a file that the encryption of the project imports restarts the server', async () => {
  await using folder = await project({
    ...imported,
    'agent.config.yaml': `${CONFIG}encryption: { path: "./encryption.ts:encryption" }\n`,
    'encryption.ts': `
      import { keys } from './keys.ts';
      export const encryption = { keys: () => keys };`,
    'keys.ts': `export const keys = { current: '${TEST_KEY}' };`,
    'src/word.ts': "export const word = 'fine';",
  });
  await using server = await developing(folder);

  await folder.write({ 'keys.ts': `export const keys = { current: '${TEST_KEY}', fallback: [] };` });
  await until('the server has restarted', () => server.restarts() === 1);

  expect(said(await server.client.runs.wait(null, 'talker', { input: {} }))).toEqual(['fine']);
});

test('Ctrl-C ends dev with exit code 0, even while the configuration is invalid', async () => {
  await using folder = await project({ ...imported, 'src/word.ts': "export const word = 'old';" });
  await using server = await developing(folder);
  await folder.write({ 'agent.config.yaml': 'graphs: [' });
  await until('the problem is told', () =>
    server.lines.some((line) => line.includes('agent.config.yaml:1:')),
  );

  server.child.kill('SIGINT');
  const [code] = await once(server.child, 'exit');

  expect(code).toBe(0);
  await expect(fetch(`${server.url}/ok`)).rejects.toThrow();
});

test('dev started by npm ends when npm is killed', async () => {
  await using folder = await project({ ...imported, 'src/word.ts': "export const word = 'old';" });
  // As npm does it: a shell stands between, which passes no signal on. `; true` keeps it from replacing itself.
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${PROGRAM}" dev; true`], {
    cwd: folder.root,
    env: { PATH: process.env['PATH'], npm_command: 'run-script' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const printed = createInterface(shell.stdout).on('line', (line) => lines.push(line));
  await until('the server is ready', () => lines.some((line) => line.includes(' ready ')));

  shell.kill('SIGTERM');
  // The output ends with the last process that holds it.
  await once(printed, 'close');
  expect(lines.at(-1)).toMatch(/ stopped$/);
});
