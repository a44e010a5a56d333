import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CONFIG_FLAG, type Command } from '../../../cli/command.ts';
import { configuredStorage } from '../../../cli/configured-storage.ts';
import type { Config } from '../../../config/schema.ts';
import { sqlitePath } from '../../../db/engines/sqlite-files.ts';
import { progressLines } from '../copy/progress-lines.ts';

/** On PostgreSQL, deployments are schemas, which `pg_dump` saves. */
function deploymentsFolder({ storage, deployments }: Config): string | undefined {
  return sqlitePath(storage.url) === undefined ? undefined : deployments.folder;
}

export const backup: Command = {
  name: 'backup',
  summary:
    'Writes the database to a file, and data of deployments beside it, while servers run; SQLite and PostgreSQL can restore it',
  args: [{ name: 'file', text: 'the file to write, such as backup.db', required: true }],
  flags: { force: { text: 'replaces an existing file' }, ...CONFIG_FLAG },
  async run(values) {
    const file = resolve(values['file'] as string);
    const { config, ...storage } = await configuredStorage(values);
    const { backupDatabase } = await import('../backup/backup.ts');
    const force = values['force'] !== undefined;
    const { bytes, encrypted, deployments } = await backupDatabase({
      ...{ ...storage, file, force, report: progressLines() },
      deployments_folder: deploymentsFolder(config),
    });
    process.stdout.write(`wrote ${file} (${bytes} bytes), verified\n`);
    if (deployments.length > 0)
      process.stdout.write(
        `wrote ${file}.deployments with the data of ${deployments.join(', ')}, verified\n`,
      );
    if (config.deployments.enabled && deploymentsFolder(config) === undefined)
      process.stderr.write(
        'The backup does not include deployments, which have their own schemas: save them with pg_dump.\n',
      );
    process.stderr.write(
      encrypted
        ? 'The values are encrypted, and the key is not in the backup: store the key elsewhere, because the backup is worthless without it.\n'
        : 'The backup holds everything in plain text, including the secrets that sign tokens: keep it where only you can read it.\n',
    );
    return 0;
  },
};

export const restore: Command = {
  name: 'restore',
  summary: 'Replaces the database with a backup, all or nothing; stop all of its servers first',
  args: [{ name: 'file', text: 'a file that backup wrote', required: true }],
  flags: {
    force: { text: 'replaces a database that has data; the data is lost' },
    'without-deployments': { text: 'restores only the database of the server' },
    ...CONFIG_FLAG,
  },
  async run(values) {
    const file = resolve(values['file'] as string);
    const { config, ...storage } = await configuredStorage(values);
    const { restoreDatabase } = await import('../backup/restore.ts');
    const force = values['force'] !== undefined;
    const alone = values['without-deployments'] !== undefined;
    const deployments_folder = alone ? undefined : deploymentsFolder(config);
    await restoreDatabase({ ...storage, file, force, deployments_folder, report: progressLines() });
    if (!alone && deploymentsFolder(config) === undefined && existsSync(`${file}.deployments`))
      process.stderr.write('The data of deployments beside the backup is for SQLite and was not restored.\n');
    process.stdout.write(
      `restored ${file}; runs that were executing at the time of the backup resume when a server starts\n`,
    );
    return 0;
  },
};
