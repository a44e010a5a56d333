import { defineConfig, mergeConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

process.env['TEST_HOSTS'] ??= '1';

/** What differs if the code of the project executes in a graph host: what the server and the host say to each other. */
const API = [
  // Runs, and what their graphs print, throw and use
  'runs',
  'run-graphs',
  'run-identity',
  'run-logs',
  'run-steps',
  'nested-nodes',
  'recursion-limit',
  'endless-graphs',
  'printed-lines',
  'thrown-values',
  'long-errors',
  'unstorable-values',
  // Streams
  'run-streams',
  'joined-streams',
  'stream-chunks',
  'event-streaming',
  'event-streaming-commands',
  // State and store
  'thread-state',
  'supersteps',
  'store-search',
  // Interrupts
  'interrupts',
  // Authentication and custom routes
  'custom-auth',
  'internal-calls',
  'custom-app',
  'custom-app-auth',
  'custom-app-middleware',
  'custom-app-routes',
];

/** The same, in test files that share no process with others. */
const OTHERS = [
  'extensions/a2a/streams',
  'extensions/protocols/human-review',
  'extensions/tracing/user-spans',
  'extensions/usage/budget-interrupts',
  'extensions/usage/budgets',
  'http/custom-app-streams.slow',
  'extensions/mcp/elicitation',
  'extensions/mcp/custom-tools.slow',
  'auth/custom',
  'clients/js-sdk',
  'clients/python-sdk',
  'chaos/everything-at-once',
  'chaos/kill-nine',
  'chaos/shutdown.slow',
];

/** `npm run test:hosts` */
const config = mergeConfig(general, defineConfig({}));
config.test.projects = [
  project(
    'http',
    API.map((name) => `http/${name}`),
    false,
  ),
  project('others', OTHERS, true),
];

export default config;

function project(name: string, files: readonly string[], isolate: boolean) {
  const { testTimeout, hookTimeout, expect, env, execArgv = [] } = general.test ?? {};
  const include = files.map((file) => `test/${file}.test.ts`);
  return { test: { name, include, isolate, testTimeout, hookTimeout, expect, env, execArgv } };
}
