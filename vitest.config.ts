import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores run the suite in continuous integration; more files at once only make each of them slower.
    maxWorkers: 2,
    env: { LANGCHAIN_CALLBACKS_BACKGROUND: 'false' },
  },
});
