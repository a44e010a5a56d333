import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { TEST_KEY } from '../support/encryption.ts';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';
import { startServer } from '../support/server.ts';

const NEW_KEY = 'a new key that has 32 characters';
const CONFIG = { 'agent.config.yaml': 'graphs: { echo: "./echo.ts:graph" }\n' };

test('after encryption rotate on a running server, the old key is no longer needed', async () => {
  const env: Record<string, string> = { LANGGRAPH_AES_KEY: TEST_KEY };
  await using server = await startServer({ graphs: { echo: 'test/fixtures/graphs/echo.ts:graph' }, env });
  const { threads, runs } = server.client;
  const { thread_id } = await threads.create();
  await runs.wait(thread_id, 'echo', { input: { x: 1 } });

  Object.assign(env, { LANGGRAPH_AES_KEY: NEW_KEY, LANGGRAPH_AES_FALLBACK_KEYS: TEST_KEY });
  await server.restart();
  const before = await threads.getState(thread_id);
  const rotated = await agentServer(['encryption', 'rotate'], {
    cwd: dirname(server.database),
    env: { DATABASE_URI: `sqlite:${server.database}`, ...env },
  });
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  expect(rotated.stdout).toMatch(/^thread_values: 1$/m);
  expect(rotated.stdout).toMatch(/^re-encrypted \d+ rows/m);
  expect(await threads.getState(thread_id)).toEqual(before);

  delete env['LANGGRAPH_AES_FALLBACK_KEYS'];
  await server.restart();
  expect(await threads.getState(thread_id)).toEqual(before);

  Object.assign(env, { LANGGRAPH_AES_KEY: TEST_KEY });
  await expect(server.restart()).rejects.toThrow('another key');
  expect(server.errors).not.toContain(TEST_KEY);
});

test('encryption rotate without a configured key exits with 2 and names the settings', async () => {
  await using folder = await project(CONFIG);
  expect(await agentServer(['encryption', 'rotate'], { cwd: folder.root })).toEqual({
    code: 2,
    stdout: '',
    stderr: naming('agent-server: encryption is off', 'LANGGRAPH_AES_KEY', 'encryption.path'),
  });
});

const ONE = { 'one.mjs': 'export const graph = { stream() {}, getState() {} };\n' };
const WITH_HANDLERS =
  'graphs: { one: "./one.mjs:graph" }\nencryption: { path: "./encryption.ts:encryption" }\n';

test('check prints only the fingerprint of an encryption key', async () => {
  await using folder = await project({ 'agent.config.yaml': 'graphs: { one: "./one.mjs:graph" }\n', ...ONE });
  const checked = await agentServer(['check'], { cwd: folder.root, env: { LANGGRAPH_AES_KEY: TEST_KEY } });
  expect(checked).toMatchObject({ code: 0, stderr: '' });
  expect(checked.stdout).toMatch(/ok {6}encryption {2}AES-256-GCM, key [0-9a-f]{8}\n$/);
});

test('a server starts with encryption keys from a file of the project', async () => {
  await using folder = await project({
    'agent.config.yaml': WITH_HANDLERS,
    ...ONE,
    'encryption.ts': `export const encryption = { keys: async (): Promise<object> => ({ current: '${TEST_KEY}' }) };\n`,
  });
  const checked = await agentServer(['check'], { cwd: folder.root });
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('./encryption.ts:encryption') });
  await using _server = await startServer({ config: folder.path('agent.config.yaml') });
});

test.each(['check', 'start', 'encryption rotate'])(
  '%s reports the problem of a file of encryption keys without its contents',
  async (command) => {
    await using folder = await project({
      'agent.config.yaml': WITH_HANDLERS,
      ...ONE,
      'encryption.ts': `export const encryption = { keys: () => ({ current: 'too short' }) };\n`,
    });
    const { code, stdout, stderr } = await agentServer(command.split(' '), {
      cwd: folder.root,
      env: { PORT: '0' },
    });
    expect(code).toBeGreaterThan(0);
    expect(stdout + stderr).toContain('16, 24 or 32 bytes');
    expect(stdout + stderr).not.toContain('too short');
  },
);
