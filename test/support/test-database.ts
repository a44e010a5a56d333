import { join } from 'node:path';
import { postgresSchema, TEST_POSTGRES_URI } from './postgres-schema.ts';

/** What servers under test store in, unless a test says otherwise. */
export const ENGINE_OF_TESTS = process.env['TEST_DATABASE'] === 'postgres' ? 'postgres' : 'sqlite';

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/**
 * An empty database for a server: a SQLite file in its folder, or with `TEST_DATABASE=postgres` a place of its own on the
 * PostgreSQL of the tests.
 */
export async function testDatabase(
  folder: string,
  engine: 'sqlite' | 'postgres' = ENGINE_OF_TESTS,
): Promise<TestDatabase> {
  if (engine !== 'postgres')
    return { url: `sqlite:${join(folder, 'server.db')}`, [Symbol.asyncDispose]: async () => {} };
  if (TEST_POSTGRES_URI === undefined) throw new Error('TEST_DATABASE=postgres needs TEST_POSTGRES_URI.');
  return postgresSchema(TEST_POSTGRES_URI);
}
