import { defineConfig } from 'vitest/config';

/** `npm run test:package`: packs and installs from the registry, for minutes, so it is not a part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/package/**/*.check.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
});
