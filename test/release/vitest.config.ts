import { defineConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

const limits = { testTimeout: 1_800_000, hookTimeout: 1_800_000 };

/** `npm run release:check`: what takes long and matters for a release only. The chart needs no package. */
export default defineConfig({
  test: {
    reporters: general.test?.reporters ?? 'default',
    projects: [
      { test: { name: 'charts', include: ['test/charts/**/*.check.ts'], ...limits } },
      {
        test: {
          name: 'release',
          include: ['test/release/**/*.check.ts'],
          globalSetup: ['test/package/setup.ts'],
          ...limits,
        },
      },
    ],
  },
});
