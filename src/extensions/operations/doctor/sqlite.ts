import { number } from '../../../db/columns.ts';
import { checkpointWal, integrityProblems, vacuumFile, walBytes } from '../../../db/engines/sqlite-files.ts';
import { sql } from '../../../db/sql.ts';
import { type Finding, type QuickCheck, type QuickContext, some } from './finding.ts';

export const sqliteChecks: readonly QuickCheck[] = [writeAheadLog, freePages];

/** Reads the whole file. */
export async function integrity({ path = '' }: Pick<QuickContext, 'path'>): Promise<Finding[]> {
  const problems = integrityProblems(path);
  if (problems.length === 0) return [];
  return [
    {
      check: 'integrity',
      level: 'problem',
      message: `The database file is damaged (${some(problems)}): stop the server, and restore a backup with "agent-server restore".`,
    },
  ];
}

/** The server truncates it to 64 MiB after each checkpoint. */
const LARGE_WAL_BYTES = 256 * 1024 ** 2;

/** The size is a parameter for tests. */
export async function writeAheadLog(
  { path = '' }: Pick<QuickContext, 'path'>,
  most_bytes = LARGE_WAL_BYTES,
): Promise<Finding[]> {
  const bytes = walBytes(path);
  if (bytes <= most_bytes) return [];
  return [
    {
      check: 'wal',
      level: 'problem',
      message: `The write-ahead log has ${megabytes(bytes)}, because a long read prevented its truncation: --fix truncates it; end backups and other long reads first.`,
      fix: async () => checkpointWal(path),
    },
  ];
}

const MUCH_FREE_BYTES = 256 * 1024 ** 2;

/** Deleted data leaves pages that only later data uses. The size is a parameter for tests. */
export async function freePages(
  { db, path = '', is_served }: Pick<QuickContext, 'db' | 'path' | 'is_served'>,
  most_bytes = MUCH_FREE_BYTES,
): Promise<Finding[]> {
  const row = await db.get(sql`
    select p.page_size * f.freelist_count as ${number('free')}, p.page_size * c.page_count as ${number('total')}
    from pragma_page_size p, pragma_freelist_count f, pragma_page_count c`);
  if (!row || row.free <= most_bytes || row.free < row.total / 2) return [];
  const size = `${megabytes(row.free)} of the ${megabytes(row.total)} of the database file are free`;
  if (is_served)
    return [
      {
        check: 'bloat',
        level: 'notice',
        message: `${size}: to return them to the file system, stop the server and run this with --fix.`,
      },
    ];
  return [
    {
      check: 'bloat',
      level: 'notice',
      message: `${size}: --fix returns them to the file system.`,
      fix: async () => vacuumFile(path),
    },
  ];
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
