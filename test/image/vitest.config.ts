import { defineConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

/** `npm run test:image`: builds a whole image, for minutes, so it is not a part of `npm test`. */
export default defineConfig({
  test: {
    reporters: general.test?.reporters ?? 'default',
    include: ['test/image/**/*.check.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
