import { defineConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

const limits = { testTimeout: 1_800_000, hookTimeout: 1_800_000 };
const { env = {}, execArgv = [], expect = {}, globalSetup = [] } = general.test ?? {};

/**
 * `npm run release:check`: what takes long and matters for a release only, and what rarely breaks, which continuous
 * integration leaves out. That of Studio belongs to `npm run test:studio`. The chart needs no package.
 */
export default defineConfig({
  test: {
    reporters: general.test?.reporters ?? 'default',
    maxWorkers: 2,
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
      {
        test: {
          name: 'rare',
          include: ['test/{cli,config,core,examples,extensions,graphs,http}/**/*.check.ts'],
          ...{ env, execArgv, expect, globalSetup },
          ...limits,
        },
      },
    ],
  },
});
