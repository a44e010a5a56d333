import { resolve } from 'node:path';
import { CONFIG_FLAG, type Command, type FlagValues, UsageError } from '../../../cli/command.ts';
import { configuredStorage } from '../../../cli/configured-storage.ts';
import { parsePostgresUrl } from '../../../db/engines/postgres-url.ts';
import { progressLines } from '../copy/progress-lines.ts';

export const copy: Command = {
  name: 'copy',
  summary:
    'Copies a whole database into an empty one, such as from SQLite to PostgreSQL; continues if interrupted',
  flags: {
    from: { value: 'URL', required: true, text: 'the source, sqlite:FILE or postgres://…; it is only read' },
    to: {
      value: 'URL',
      required: true,
      text: 'the target: an empty database, or an unfinished copy of the same source',
    },
    'while-running': {
      text: 'copies a snapshot of a source that servers are using; later writes are not copied',
    },
    restart: { text: 'empties the target of an unfinished copy and starts over' },
    ...CONFIG_FLAG,
  },
  async run(values) {
    const [from, to] = [databaseUrl(values, 'from'), databaseUrl(values, 'to')];
    const { url, password_command, encryptor, owned } = await configuredStorage(values);
    // Send the configured password to the configured database only.
    const commandFor = (side: string) => (side === url ? password_command : undefined);
    const { copyDatabase } = await import('../copy/copy.ts');
    const rows = await copyDatabase({
      from,
      to,
      password_commands: { from: commandFor(from), to: commandFor(to) },
      ...{ encryptor, owned },
      while_running: values['while-running'] !== undefined,
      restart: values['restart'] !== undefined,
      report: progressLines(),
    });
    process.stdout.write(`copied ${rows} rows: both databases have the same rows and checksums\n`);
    return 0;
  },
};

function databaseUrl(values: FlagValues, flag: 'from' | 'to'): string {
  const url = values[flag];
  if (url === undefined) throw new UsageError(`copy: --${flag} is required: sqlite:FILE or postgres://…`);
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path !== undefined) return `sqlite:${resolve(path)}`;
  // The error does not repeat the URL, because it may contain a password.
  if (parsePostgresUrl(url) === undefined)
    throw new UsageError(`copy: --${flag} must be sqlite:FILE or postgres://…`);
  return url;
}
