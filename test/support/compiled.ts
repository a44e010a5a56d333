import { join } from 'node:path';

const loadedBefore = (name: string) => ['--import', join(import.meta.dirname, name)];

/** Arguments of a Node that uses and keeps the compiled code of all tests, and finds modules fast: see the files. */
export const KEEPS_COMPILED = [...loadedBefore('compile-cache.mjs'), ...loadedBefore('fast-imports.mjs')];
