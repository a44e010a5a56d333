import { defineConfig, mergeConfig } from 'vitest/config';
import general from '../../vitest.config.ts';
import { FILES } from './files.ts';

process.env['TEST_PROCESSES'] = '1';

/**
 * `npm run test:processes`: tests of the API against two processes that answer requests and two that execute runs, on
 * the PostgreSQL that `TEST_POSTGRES_URI` names.
 */
const config = mergeConfig(general, defineConfig({}));
// Several processes serve all of them: nothing is gained by sharing a worker.
config.test.projects = undefined;
config.test.include = FILES.map((name) => `test/${name}{,.slow}.test.ts`);

export default config;
