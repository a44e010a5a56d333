import { defineConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

/** `npm run release:check`: what takes long and matters for a release only. */
export default defineConfig({
  test: {
    reporters: general.test?.reporters ?? 'default',
    include: ['test/{charts,release}/**/*.check.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
