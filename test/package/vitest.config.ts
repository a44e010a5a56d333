import { defineConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

/** `npm run test:package`: packs and installs from the registry, for minutes, so it is not a part of `npm test`. */
export default defineConfig({
  test: {
    reporters: general.test?.reporters ?? 'default',
    include: ['test/package/**/*.check.ts'],
    globalSetup: ['test/package/setup.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    // A connection to a registry that hangs is tried again after half a minute; npm itself would wait for five.
    env: { npm_config_fetch_timeout: '30000' },
    maxWorkers: 2,
  },
});
