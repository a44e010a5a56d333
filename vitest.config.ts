import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** `.ci/run` counts the tests in this file. */
const results = process.env['TEST_RESULTS'];

// Test files and the graph hosts that they start load the same thousand modules again and again; the command line keeps
// what it compiled in this folder too. Node reads the variable when a process starts, so it cannot be in `env` below.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/agent-server');

export default defineConfig({
  test: {
    reporters: results ? ['default', ['json', { outputFile: results }]] : ['default'],
    include: ['test/**/*.test.ts'],
    globalSetup: [
      'test/support/shared-schemas.ts',
      'test/support/shared-databases.ts',
      'test/support/pgbouncer-setup.ts',
      'test/support/processes-setup.ts',
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores run the suite in continuous integration; more files at once only make each of them slower.
    maxWorkers: 2,
    env: { LANGCHAIN_CALLBACKS_BACKGROUND: 'false' },
  },
});
