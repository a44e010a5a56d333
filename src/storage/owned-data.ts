import { type Migration, migrations } from '../db/migrations/index.ts';
import type { EncryptedTable } from './encryption/columns.ts';

/** What an extension owns in the database; known also while the extension is off. */
export interface OwnedData {
  /** Names its migrations in the database, and never changes. */
  readonly name: string;
  /**
   * They create and change its own tables only, so that servers without the extension are not affected. Rows that belong
   * to a thread, a run or an assistant reference it with `on delete cascade`: they are deleted with it.
   */
  readonly migrations: readonly Omit<Migration, 'extension'>[];
  /** Its columns encrypted at rest, for key rotation. */
  readonly encrypted?: readonly EncryptedTable[];
  readonly orphans?: readonly Orphans[];
  /** SQL that holds for a run, `e.run_id`, whose events it has yet to read: they outlive their retention. */
  readonly keeps_log?: string;
}

/** Rows of a table whose parent no foreign key names, since it may be deleted first: a doctor finds and deletes them. */
export interface Orphans {
  readonly table: string;
  /** SQL that holds for rows that nothing leads to, and that no retention will delete. */
  readonly condition: string;
  readonly what: string;
}

/** The migrations of the core and of extensions. */
export function allMigrations(owned: readonly OwnedData[] = []): readonly Migration[] {
  return [
    ...migrations,
    ...owned.flatMap(({ name, migrations: own }) => own.map((each) => ({ ...each, extension: name }))),
  ];
}
