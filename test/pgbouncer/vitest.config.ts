import { defineConfig, mergeConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

if (process.env['TEST_POSTGRES_URI'] === undefined)
  throw new Error('npm run test:pgbouncer needs a PostgreSQL server: set TEST_POSTGRES_URI.');
process.env['TEST_PGBOUNCER'] = '1';
process.env['TEST_DATABASE'] = 'postgres';

/**
 * What PgBouncer in transaction mode can break: what needs a session, as locks and notifications do, what spans
 * transactions, and the connections themselves. All other statements are the same with it.
 */
const FILES = [
  'storage/queue/*',
  'storage/webhooks/*',
  'storage/transactions',
  'storage/notifications',
  'storage/lost-switches',
  'storage/pools',
  'storage/pool-sizes',
  'storage/postgres',
  'storage/postgres/{lock,url}',
  'storage/migrate',
  'storage/migrations-together',
  'storage/deployment-pushes',
  'storage/write-buffer',
  'events/lost-events',
  'http/runs',
  'http/run-streams',
];

/** `npm run test:pgbouncer` */
const config = mergeConfig(general, defineConfig({}));
config.test.projects = undefined;
config.test.include = FILES.map((name) => `test/${name}.test.ts`);

export default config;
