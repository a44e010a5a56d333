import { startPgBouncer } from './pgbouncer.ts';

/** Before all tests: with `TEST_PGBOUNCER=1`, a PgBouncer before the server of the tests. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const target = process.env['TEST_POSTGRES_URI'];
  if (process.env['TEST_PGBOUNCER'] !== '1' || target === undefined) return undefined;
  const bouncer = await startPgBouncer(target);
  process.env['TEST_PGBOUNCER_URI'] = bouncer.urlOf('postgres');
  return async () => await bouncer[Symbol.asyncDispose]();
}
