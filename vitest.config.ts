import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/** `.ci/run` counts the tests in this file. */
const results = process.env['TEST_RESULTS'];

// Test files and the graph hosts that they start load the same thousand modules again and again; the command line keeps
// what it compiled in this folder too. Node reads the variable when a process starts, so it cannot be in `env` below.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/agent-server');

const general = {
  // Loading a server takes a busy machine half a minute, or more.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  env: { LANGCHAIN_CALLBACKS_BACKGROUND: 'false' },
};

/**
 * Files that share a process and what it loaded. To load the server and LangGraph takes most of them longer than their
 * tests: 39 s of CPU for thirty of them instead of 75. They may keep nothing in modules that another one would notice.
 * `event-loop` measures, which the garbage of others would disturb. `websocket-failures` and `silent-sockets` play sockets
 * that nobody closes.
 */
const SHARED = 'test/http/!(*.slow|event-loop|websocket-failures|silent-sockets).test.ts';

/** What `npm test` leaves to `npm run test:slow`. */
const SLOW = 'test/**/*.slow.test.ts';

export default defineConfig({
  test: {
    ...general,
    reporters: results ? ['default', ['json', { outputFile: results }]] : ['default'],
    globalSetup: [
      'test/support/shared-schemas.ts',
      'test/support/shared-databases.ts',
      'test/support/pgbouncer-setup.ts',
      'test/support/processes-setup.ts',
    ],
    // Two cores run the suite in continuous integration; more files at once only make each of them slower.
    maxWorkers: 2,
    projects: [
      { test: { ...general, name: 'http', include: [SHARED], isolate: false } },
      {
        test: {
          ...general,
          name: 'others',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, SHARED, SLOW],
        },
      },
      { test: { ...general, name: 'slow', include: [SLOW] } },
    ],
  },
});
