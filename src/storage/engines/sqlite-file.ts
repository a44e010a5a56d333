import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Unavailable } from '../../core/errors.ts';
import type { Connection } from './sqlite-connection.ts';

/**
 * Where the database in the file really is; the file is made with its folder when missing. SQLite resolves symbolic links
 * and puts its log beside the real file: so must be whatever else is beside it, above all the lock that keeps a second
 * server off. Throws `Unavailable` for a file with several names (hard links): each would have a log and a lock of its
 * own, and what is written under two names at once is destroyed.
 */
export function realFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  // Also at the end of a link that leads to no file yet. One that is there must not be opened: closing it would release
  // the locks of all connections that this process has to it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o644));
  const file = realpathSync(path);
  const { nlink } = statSync(file);
  if (nlink <= 1) return file;
  const detail = `The database ${path} is a file with ${nlink} names (hard links)`;
  throw new Unavailable(`${detail}: remove the others, or use a copy of it. A symbolic link does no harm.`);
}

/** Throws `Unavailable` for the database of another program, before anything is changed in it. */
export function refuseForeign(connection: Connection, path: string): void {
  const count = (query: string) => connection.prepare(query).pluck().get() as number;
  const tables = count(
    `select count(*) from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
  );
  if (tables === 0) return;
  // Other programs have a table of this name as well.
  const known = count(`select count(*) from pragma_table_info('schema_migrations')
    where name in ('version', 'name', 'applied_at')`);
  if (known === 3) return;
  const detail = `The database ${path} belongs to another program: it has tables, but not those of this server`;
  throw new Unavailable(`${detail}. Set another "storage.url".`);
}
