import type { Clock } from '../../../core/clock.ts';
import { Unavailable } from '../../../core/errors.ts';
import { publicFailure } from '../../../core/failure.ts';
import type { Db } from '../../../db/db.ts';
import { type Cipher, type Encryptor, plainCipher } from '../../../db/encryption/cipher.ts';
import type { PostgresPool } from '../../../db/engines/postgres.ts';
import { postgresOpenError } from '../../../db/engines/postgres-errors.ts';
import { openSqlite } from '../../../db/engines/sqlite.ts';
import { sqlitePath } from '../../../db/engines/sqlite-files.ts';
import { assertExists, holdSqlite, openSqliteSnapshot } from '../../../db/engines/sqlite-snapshot.ts';
import { hasTable } from '../../../db/schema.ts';
import { raw } from '../../../db/sql.ts';
import { unlockReader } from '../../../storage/encryption/unlock.ts';
import { type PostgresAccess, postgresPools } from '../../../storage/postgres-pools.ts';
import { liveWorkers } from '../../../storage/queue/workers.ts';
import { clockChecks } from './clock.ts';
import { cronChecks } from './crons.ts';
import { deliveryChecks } from './deliveries.ts';
import type { Check, DoctorContext, Finding } from './finding.ts';
import { keyChecks } from './keys.ts';
import { orphans } from './orphans.ts';
import { postgresChecks } from './postgres.ts';
import { runChecks } from './runs.ts';
import { missingIndexes, schemaFinding } from './schema.ts';
import { integrity, sqliteChecks } from './sqlite.ts';
import { threadChecks } from './threads.ts';

export interface DoctorOptions
  extends Pick<
    DoctorContext,
    'max_attempts' | 'log_retention_ms' | 'give_up_ms' | 'max_connections' | 'owned'
  > {
  /** `sqlite:` and an absolute path, or `postgres://…`. */
  readonly url: string;
  /** Command that prints the password of a PostgreSQL. */
  readonly password_command?: string | undefined;
  readonly encryptor?: Encryptor | undefined;
  readonly clock: Clock;
}

export interface Diagnosis {
  /** Findings that remain. */
  readonly findings: readonly Finding[];
  /** Findings that `fix` resolved. */
  readonly fixed: readonly Finding[];
}

/**
 * Examines a database while its servers run; with `fix` mends what it can and examines again. A database that cannot be used
 * at all is a finding too.
 */
export async function examine(
  options: DoctorOptions,
  { fix }: { readonly fix: boolean },
): Promise<Diagnosis> {
  try {
    await using opened = await open(options);
    const findings = await findingsOf(opened.context);
    if (!fix || findings.every((finding) => !finding.fix)) return { findings, fixed: [] };
    const failures = await fixAll(findings);
    const left = await findingsOf(opened.context);
    const fixed = findings.filter((finding) => finding.fix && !left.some((each) => isSame(each, finding)));
    return { findings: left.map((finding) => withFailure(finding, failures)), fixed };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return { findings: [{ check: 'database', level: 'problem', message: error.message }], fixed: [] };
  }
}

/** Applies every fix, whether or not others fail. Returns the reasons of failures by message. */
async function fixAll(findings: readonly Finding[]): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  for (const { message, fix } of findings) {
    try {
      await fix?.();
    } catch (error) {
      failures.set(message, publicFailure(error).message);
    }
  }
  return failures;
}

function withFailure(finding: Finding, failures: ReadonlyMap<string, string>): Finding {
  const reason = failures.get(finding.message);
  return reason === undefined
    ? finding
    : { ...finding, message: `${finding.message} (--fix failed: ${reason})` };
}

function isSame(one: Finding, other: Finding): boolean {
  return one.check === other.check && one.message === other.message;
}

async function findingsOf(context: DoctorContext): Promise<Finding[]> {
  const schema = await schemaFinding(context);
  if (schema) return [schema];
  // Statements on a damaged file fail anywhere.
  const damage = context.db.dialect === 'sqlite' ? await integrity(context) : [];
  if (damage.length > 0) return damage;
  const checks: readonly Check[] = [
    ...(context.db.dialect === 'sqlite' ? sqliteChecks : postgresChecks),
    missingIndexes,
    ...clockChecks,
    ...runChecks,
    ...threadChecks,
    orphans,
    ...cronChecks,
    ...deliveryChecks,
    ...keyChecks,
  ];
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await check(context)));
  return findings;
}

async function open({
  url,
  password_command,
  encryptor,
  clock,
  ...rules
}: DoctorOptions): Promise<AsyncDisposable & { readonly context: DoctorContext }> {
  const path = sqlitePath(url);
  const cipher = await cipherOf({ url, password_command }, path, encryptor);
  const db: Db & Partial<PostgresPool> =
    path === undefined
      ? postgresPools({ url, password_command, cipher }).open({ max_connections: 2, no_timeouts: true })
      : openSqlite(path, { synchronous: 'full', shared: true, own_schema_only: true, cipher });
  try {
    const is_served = path === undefined ? await hasLiveWorkers(db) : isLocked(path);
    const is_pooled = (await db.inspect?.())?.is_pooled ?? false;
    const max_connections = is_pooled ? 0 : rules.max_connections;
    const context = { db, now: () => clock.now(), path, is_served, ...rules, max_connections };
    return { context, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw error;
  }
}

/** Before a database is opened for writing, which would create a missing file. */
async function cipherOf(
  access: PostgresAccess,
  path: string | undefined,
  encryptor: Encryptor | undefined,
): Promise<Cipher> {
  if (path !== undefined) assertExists(path);
  await using reader =
    path === undefined ? postgresPools(access).open({ max_connections: 1 }) : openSqliteSnapshot(path);
  try {
    await reader.get(raw('select 1'));
  } catch (error) {
    throw path === undefined ? postgresOpenError(access.url, error) : error;
  }
  if (!(await hasTable(reader, 'server_secrets'))) return plainCipher;
  return await unlockReader(reader, encryptor);
}

async function hasLiveWorkers(db: Db): Promise<boolean> {
  return (await hasTable(db, 'workers')) && (await liveWorkers(db)) > 0;
}

function isLocked(path: string): boolean {
  using lock = holdSqlite(path);
  return lock === undefined;
}
