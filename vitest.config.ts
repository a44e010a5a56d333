import { configDefaults, defineConfig } from 'vitest/config';
import { KEEPS_COMPILED } from './test/support/compiled.ts';

/** `.ci/run` counts the tests in this file. */
const results = process.env['TEST_RESULTS'];

const general = {
  // Only what hangs should exceed it: loading a server takes a busy machine half a minute, or more.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Vitest waits a second, which is short for a busy machine.
  expect: { poll: { timeout: 240_000 } },
  env: { LANGCHAIN_CALLBACKS_BACKGROUND: 'false' },
  // Test files and the graph hosts that they start load the same thousand modules again and again.
  execArgv: KEEPS_COMPILED,
};

/**
 * Files that share a process and what it loaded. To load the server, LangGraph or PGlite takes most of them longer than
 * their tests: 39 s of CPU for thirty of `test/http` instead of 75. They may keep nothing in modules that another one
 * would notice.
 */
const SHARED = {
  http: ['test/{http,extensions/*}/*.test.ts'],
  inside: ['test/{auth,config,core,events,graphs,services,storage,workers}/**/*.test.ts'],
  /** With one Chromium. */
  slow: ['test/{chaos,cli,clients,examples,http,studio,extensions/*}/*.slow.test.ts'],
};

/** Files that change their process, measure it, or play sockets that nobody closes. */
const ALONE = [
  'test/core/{event-loop,memory,timers}.test.ts',
  'test/graphs/{active-spans,checkpointer-validation,embedder,released-signals,untraced-runs}.test.ts',
  'test/http/{event-loop,loop-delay,silent-sockets,websocket-failures}.test.ts',
  'test/storage/flush-later.test.ts',
  'test/storage/queue/concurrent.test.ts',
  'test/workers/auto-concurrency.test.ts',
];

/** The same among slow files: it sets variables of its process. */
const ALONE_SLOW = ['test/examples/encryption.slow.test.ts'];

/** What `npm test` leaves to `npm run test:slow`. */
const SLOW = 'test/**/*.slow.test.ts';

export default defineConfig({
  test: {
    ...general,
    reporters: results ? ['default', ['json', { outputFile: results }]] : ['default'],
    globalSetup: [
      'test/support/installed.ts',
      'test/support/shared-schemas.ts',
      'test/support/shared-databases.ts',
      'test/support/pgbouncer-setup.ts',
      'test/support/processes-setup.ts',
    ],
    setupFiles: process.env['TEST_CPU'] ? ['test/support/cpu-of-files.ts'] : [],
    // Two cores run the suite in continuous integration; more files at once only make each of them slower.
    maxWorkers: 3,
    projects: [
      project('http', { include: SHARED.http, exclude: [SLOW, ...ALONE], isolate: false }),
      project('inside', { include: SHARED.inside, exclude: [SLOW, ...ALONE], isolate: false }),
      project('alone', { include: ALONE }),
      project('others', {
        include: ['test/**/*.test.ts'],
        exclude: [SLOW, ...SHARED.http, ...SHARED.inside],
      }),
      project('slow', { include: [SLOW], exclude: SHARED.slow }),
      project('slow-alone', { include: ALONE_SLOW }),
      project('slow-shared', { include: SHARED.slow, exclude: ALONE_SLOW, isolate: false }),
    ],
  },
});

interface Files {
  readonly include: string[];
  readonly exclude?: string[];
  readonly isolate?: boolean;
}

function project(name: string, { exclude = [], ...files }: Files) {
  return { test: { ...general, ...files, name, exclude: [...configDefaults.exclude, ...exclude] } };
}
