import { Unavailable } from '../core/errors.ts';
import { integrityProblems } from '../db/engines/sqlite-files.ts';
import { openSqliteSnapshot } from '../db/engines/sqlite-snapshot.ts';
import { NEWEST_VERSION, schemaVersion } from '../db/schema.ts';
import { assertNoCopy } from './unfinished-copy.ts';

/**
 * Reads a whole backup before anything depends on it. Returns its schema version. Throws `Unavailable` if it is
 * missing, damaged, incomplete, of another program, or of a newer version of this one.
 */
export async function assertIntact(file: string): Promise<number> {
  const version = await versionOf(file);
  if (version === 0) throw new Unavailable(`${file} is not a backup: it has no tables of this server.`);
  if (version > NEWEST_VERSION) {
    const detail = `${file} is at schema version ${version}, but this program supports only versions up to ${NEWEST_VERSION}.`;
    throw new Unavailable(`${detail} Run a newer version of the program.`);
  }
  const problems = integrityProblems(file);
  if (problems.length > 0) throw new Unavailable(`${file} is damaged: ${problems.join('; ')}`);
  return version;
}

async function versionOf(file: string): Promise<number> {
  await using snapshot = openBackup(file);
  await assertNoCopy(snapshot);
  return await schemaVersion(snapshot);
}

/** As `openSqliteSnapshot`, whose advice about a damaged file is for that of a server. */
function openBackup(file: string): ReturnType<typeof openSqliteSnapshot> {
  try {
    return openSqliteSnapshot(file);
  } catch (error) {
    const cause = error instanceof Unavailable ? error.cause : undefined;
    if (!(cause instanceof Error)) throw error;
    throw new Unavailable(`${file} is damaged, incomplete, or not a backup: ${cause.message}.`, { cause });
  }
}
