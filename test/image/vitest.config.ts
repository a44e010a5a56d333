import { defineConfig } from 'vitest/config';

/** `npm run test:image`: builds a whole image, for minutes, so it is not a part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/image/**/*.check.ts'],
    testTimeout: 900_000,
  },
});
