import { randomUUID } from 'node:crypto';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw } from '../../src/db/sql.ts';

/** A real server instead of PGlite: each test gets a schema of its own there. */
export const TEST_POSTGRES_URI = process.env['TEST_POSTGRES_URI'];

export interface PostgresSchema extends AsyncDisposable {
  readonly url: string;
}

/** A place of its own on a real server, also for other processes; gone at the end. */
export async function postgresSchema(uri: string): Promise<PostgresSchema> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const run = async (statement: string) => {
    await using server = openPostgres(uri);
    await server.run(raw(statement));
  };
  await run(`create schema ${name}`);
  const there = new URL(uri);
  there.searchParams.set('options', `-c search_path=${name}`);
  return { url: there.href, [Symbol.asyncDispose]: () => run(`drop schema ${name} cascade`) };
}
