import { randomUUID } from 'node:crypto';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw } from '../../src/db/sql.ts';

/** A real server instead of PGlite: each test gets a schema of its own there. */
export const TEST_POSTGRES_URI = process.env['TEST_POSTGRES_URI'];

/**
 * With `TEST_PGBOUNCER=1` a PgBouncer before that server, through which everything then goes; started by
 * `pgbouncer-setup.ts`.
 */
const TEST_PGBOUNCER_URI = process.env['TEST_PGBOUNCER_URI'];

export interface PostgresSchema extends AsyncDisposable {
  readonly url: string;
}

/** A place of its own on a real server, also for other processes; gone at the end. */
export async function postgresSchema(uri: string): Promise<PostgresSchema> {
  if (TEST_PGBOUNCER_URI !== undefined && uri === TEST_POSTGRES_URI)
    return throughPgBouncer(uri, TEST_PGBOUNCER_URI);
  return directPostgresSchema(uri);
}

/** The same, never by way of a PgBouncer: for tests of start-up parameters and of the connections themselves. */
export async function directPostgresSchema(uri: string): Promise<PostgresSchema> {
  const [name, run] = [newName(), runOn(uri)];
  await run(`create schema ${name}`);
  const there = new URL(uri);
  there.searchParams.set('options', `-c search_path=${name}`);
  return { url: there.href, [Symbol.asyncDispose]: () => run(`drop schema ${name} cascade`) };
}

/** A database: PgBouncer refuses the start-up parameter that chooses a schema. */
async function throughPgBouncer(uri: string, bouncer: string): Promise<PostgresSchema> {
  const [name, run] = [newName(), runOn(uri)];
  await run(`create database ${name}`);
  const through = new URL(bouncer);
  through.pathname = name;
  return { url: through.href, [Symbol.asyncDispose]: () => run(`drop database ${name} with (force)`) };
}

function newName(): string {
  return `test_${randomUUID().replaceAll('-', '')}`;
}

function runOn(uri: string): (statement: string) => Promise<void> {
  return async (statement) => {
    await using server = openPostgres(uri);
    await server.run(raw(statement));
  };
}
