import { OWNED_DATA } from '../../app/extensions.ts';
import { type Migration, versionOf } from '../../db/migrations/index.ts';
import { CONFIG_FLAG, type Command } from '../command.ts';
import { loadConfigFor } from '../config.ts';

export const migrate: Command = {
  name: 'migrate',
  summary: 'Brings the database up to date; servers with "storage.migrations: wait" start after it',
  flags: { ...CONFIG_FLAG, check: { text: 'only list what is pending; exit code 1 if anything is' } },
  async run(values) {
    const { config } = await loadConfigFor(values);
    const { openMigrations } = await import('../../storage/database.ts');
    await using migrations = await openMigrations({ ...config.storage, owned: OWNED_DATA });
    const pending = await migrations.pending();
    const isCheck = values['check'] !== undefined;
    for (const migration of isCheck ? pending : [])
      process.stdout.write(`pending: ${described(migration)}\n`);
    if (pending.length > 0 && isCheck) return 1;
    await migrations.apply((message, { extension, version, name }) => {
      const line =
        version === undefined
          ? message
          : `${message}: ${[extension, version, name].filter(Boolean).join(' ')}`;
      process.stdout.write(`${line}\n`);
    });
    process.stdout.write('The database is up to date.\n');
    return 0;
  },
};

function described(migration: Migration): string {
  const effect = migration.expands
    ? 'servers of the previous version can keep running'
    : 'stop all servers first';
  return `${versionOf(migration)} ${migration.name} (${effect})`;
}
