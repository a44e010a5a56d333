import { join } from 'node:path';

/** Arguments of a Node that uses and keeps the compiled code of all tests: see the file. */
export const KEEPS_COMPILED = ['--import', join(import.meta.dirname, 'compile-cache.mjs')];
