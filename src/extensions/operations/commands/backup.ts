import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CONFIG_FLAG, type Command } from '../../../cli/command.ts';
import { configuredStorage } from '../../../cli/configured-storage.ts';
import { filesFolderOf } from '../backup/files-folder.ts';
import { progressLines } from '../copy/progress-lines.ts';

export const backup: Command = {
  name: 'backup',
  summary:
    'Writes the database to a file, and what belongs to it beside that file, while servers run; SQLite and PostgreSQL can restore it',
  args: [{ name: 'file', text: 'the file to write, such as backup.db', required: true }],
  flags: { force: { text: 'replaces an existing file' }, ...CONFIG_FLAG },
  async run(values) {
    const file = resolve(values['file'] as string);
    const { config: _, databases, ...storage } = await configuredStorage(values);
    const { backupDatabase } = await import('../backup/backup.ts');
    const force = values['force'] !== undefined;
    const files = await storage.files();
    const backup = await backupDatabase({ ...storage, files, file, force, report: progressLines() });
    const { bytes, encrypted } = backup;
    process.stdout.write(`wrote ${file} (${bytes} bytes), verified\n`);
    for (const [extension, names] of Object.entries(backup.files))
      if (names.length > 0)
        process.stdout.write(
          `wrote ${filesFolderOf(file, extension)} with the data of ${names.join(', ')}, verified\n`,
        );
    const others = files.length > 0 ? [] : await databases();
    if (others.length > 0) {
      const names = others.map(({ kind, name }) => `${kind} ${name}`).join(', ');
      process.stderr.write(
        `The backup does not include what has a schema of its own, which pg_dump saves: ${names}.\n`,
      );
    }
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
    'database-only': { text: 'restores only the database of the server, not what is beside it' },
    ...CONFIG_FLAG,
  },
  async run(values) {
    const file = resolve(values['file'] as string);
    const { config: _, databases: __, ...storage } = await configuredStorage(values);
    const { restoreDatabase } = await import('../backup/restore.ts');
    const force = values['force'] !== undefined;
    const isAlone = values['database-only'] !== undefined;
    const files = isAlone ? [] : await storage.files();
    await restoreDatabase({ ...storage, files, file, force, report: progressLines() });
    const restored = files.map(({ name }) => filesFolderOf(file, name));
    for (const path of isAlone ? [] : foldersBeside(file).filter((each) => !restored.includes(each)))
      process.stderr.write(`${path} is for SQLite and was not restored.\n`);
    process.stdout.write(
      `restored ${file}; runs that were executing at the time of the backup resume when a server starts\n`,
    );
    return 0;
  },
};

/** What the backup of a SQLite database has next to it. */
function foldersBeside(file: string): string[] {
  return readdirSync(dirname(file), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith(`${basename(file)}.`))
    .map(({ name }) => join(dirname(file), name));
}
