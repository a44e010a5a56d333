import pg from 'pg';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import { type PostgresSession, postgresDb } from '../../src/db/engines/postgres-db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { allMigrations } from '../../src/storage/owned-data.ts';

/**
 * Gives an empty schema our tables, in one round trip: what `migrate` executes, but without its lock, which is one for
 * all schemas of a database. Tests that migrated at the same time waited for each other, with back-off for seconds.
 */
export async function writeMigratedPostgres(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(await migrationScript());
  } finally {
    await client.end();
  }
}

let recorded: Promise<string> | undefined;

/** The statements that `migrate` executes on an empty PostgreSQL. */
export function migrationScript(): Promise<string> {
  recorded ??= recordMigrations();
  return recorded;
}

async function recordMigrations(): Promise<string> {
  const statements: string[] = [];
  let version = 0;
  const extensions: { extension: unknown; version: number }[] = [];
  const session: PostgresSession = {
    async query(text, values) {
      if (text.includes('from extension_migrations')) return { rows: extensions, changes: 0 };
      // What `migrate` asks: whether its tables are there, at which version, and for its lock.
      if (/^\s*select/.test(text)) return { rows: [{ version, granted: 1 }], changes: 0 };
      if (text.includes('into schema_migrations')) version = Number(values[0]);
      if (text.includes('into extension_migrations'))
        extensions.push({ extension: values[0], version: Number(values[1]) });
      statements.push(withValues(text, values));
      return { rows: [], changes: 1 };
    },
  };
  const transaction = async <T>(_durability: unknown, body: (session: never) => Promise<T>) =>
    body(session as never);
  const db = postgresDb({ ...session, transaction, close: async () => {} });
  await migrate(db, allMigrations(OWNED_DATA));
  return statements.join(';\n');
}

function withValues(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, place: string) => {
    const value = values[Number(place) - 1];
    return typeof value === 'number' ? String(value) : pg.escapeLiteral(String(value));
  });
}
