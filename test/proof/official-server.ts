import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { command } from '../package/command.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLI = '@langchain/langgraph-cli';
export const OFFICIAL_VERSION = '1.5.1';

/** The graphs of test/bench/agent.config.yaml that are compared, and what they import. */
const FILES = [
  'examples/echo/graph.ts',
  'test/fixtures/graphs/ten-steps.ts',
  'test/fixtures/graphs/tokens.ts',
  'test/fixtures/graphs/token-model.ts',
  'test/bench/graphs/conversation.ts',
];
const GRAPHS = {
  echo: './examples/echo/graph.ts:graph',
  'ten-steps': './test/fixtures/graphs/ten-steps.ts:graph',
  tokens: './test/fixtures/graphs/tokens.ts:graph',
  conversation: './test/bench/graphs/conversation.ts:graph',
};

export interface OfficialServer extends AsyncDisposable {
  readonly url: string;
}

/** Milliseconds: it compiles its graphs first. */
const START_MS = 60_000;

/**
 * The official JavaScript server, from the registry of npm, in a folder that goes with it. It keeps everything in memory.
 * Throws if it cannot be installed, as without a network, or does not start.
 */
export async function officialServer(env: NodeJS.ProcessEnv = process.env): Promise<OfficialServer> {
  await using stack = new AsyncDisposableStack();
  const cwd = await mkdtemp(join(tmpdir(), 'official-server-'));
  stack.defer(() => rm(cwd, { recursive: true, force: true }));
  for (const file of FILES) await cp(join(ROOT, file), join(cwd, file));
  await writeFile(join(cwd, 'package.json'), '{ "private": true, "type": "module" }\n');
  await writeFile(join(cwd, 'langgraph.json'), JSON.stringify({ node_version: '24', graphs: GRAPHS }));
  const packages = [
    `${CLI}@${OFFICIAL_VERSION}`,
    '@langchain/langgraph@^1.7.3',
    '@langchain/core@^1.4.0',
    'zod@4',
  ];
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps', '--fetch-retries=0'];
  await command('npm', ['install', ...quiet, ...packages], { cwd, env });
  const port = await freePort();
  const program = join(cwd, 'node_modules', CLI, 'dist/cli/cli.mjs');
  const args = [program, 'dev', '--port', `${port}`, '--no-browser', '--n-jobs-per-worker', '64'];
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore', detached: true });
  // A group of its own: it starts a process for the graphs.
  stack.defer(() => void (child.exitCode === null && process.kill(-(child.pid as number), 'SIGKILL')));
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/ok`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('the official server answers', answers, START_MS);
  const all = stack.move();
  return { url, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
