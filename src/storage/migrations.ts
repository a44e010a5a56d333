import { type MigrationLog, migrate, pendingMigrations } from '../db/migrate.ts';
import { type DatabaseOptions, openUnmigratedDatabase } from './database.ts';

/** Opens a database for its migrations only. Throws `Unavailable` if it is unreachable or unsupported. */
export async function openMigrations(options: DatabaseOptions) {
  const db = await openUnmigratedDatabase(options);
  return {
    /** In order; changes nothing. Throws `Unavailable` if this program is too old for the database. */
    pending: () => pendingMigrations(db),
    /** Applies what is pending, or waits for the process that does. Throws as `pending`. */
    apply: (log: MigrationLog) => migrate(db, undefined, log),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
