import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { type PostgresSchema, postgresSchema, TEST_POSTGRES_URI } from './postgres-schema.ts';

/** The address of an empty database; what is there is gone after the tests. */
export type NewPlace = () => Promise<string>;

/** The same tests where a database can be opened more than once: a SQLite file, and PostgreSQL when there is a server. */
export function describeEachPlace(name: string, tests: (place: NewPlace) => void): void {
  describe(`${name} on SQLite`, () => tests(files()));
  describe.runIf(TEST_POSTGRES_URI)(`${name} on PostgreSQL`, () => tests(schemas()));
}

function files(): NewPlace {
  const root = mkdtempSync(join(tmpdir(), 'agent-server-place-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let made = 0;
  return async () => `sqlite:${join(root, `${++made}.db`)}`;
}

function schemas(): NewPlace {
  const made: PostgresSchema[] = [];
  afterAll(async () => {
    for (const schema of made) await schema[Symbol.asyncDispose]();
  });
  return async () => {
    const schema = await postgresSchema(TEST_POSTGRES_URI as string);
    made.push(schema);
    return schema.url;
  };
}
