import { copyFileSync, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Conflict, Unavailable } from '../../../core/errors.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import { columns, nullable, number, text } from '../../../db/columns.ts';
import type { Reader } from '../../../db/db.ts';
import {
  flush,
  type HeldDatabase,
  holdForReplacement,
  removeCompanions,
  removeSqlite,
  vacuumInto,
} from '../../../db/engines/sqlite-files.ts';
import { openSqliteSnapshot } from '../../../db/engines/sqlite-snapshot.ts';
import { sql } from '../../../db/sql.ts';
import { assertIntact } from '../../../storage/backup-file.ts';
import type { HeldFiles, OwnedFiles } from '../../extension.ts';

/** What is needed of a deployment to serve it again: paths below its folder, those of databases and of uploads. */
interface DeploymentData {
  readonly name: string;
  readonly database: string;
  readonly uploads: readonly string[];
}

/** What a backup has of the deployments below `folder`: their databases and uploads, but no builds. */
export function deploymentData(folder: string): OwnedFiles {
  return {
    copy: (backup, to) => copyDeployments(backup, folder, to),
    hold: (backup, from, force) => holdDeployments({ backup, from, folder, force }),
  };
}

/** Each database is one moment of its own. Returns the names of the deployments that have a database. */
async function copyDeployments(backup: string, folder: string, to: string): Promise<string[]> {
  const deployments = await deploymentsIn(backup);
  const copied: string[] = [];
  for (const { name, database, uploads } of deployments) {
    if (hasData(join(folder, database))) {
      await copyDatabaseFile(join(folder, database), join(to, database));
      copied.push(name);
    }
    for (const path of uploads) if (existsSync(join(folder, path))) copy(join(folder, path), join(to, path));
  }
  if (deployments.length > 0) makeFolder(to, 0o700);
  return copied;
}

interface Restored {
  readonly backup: string;
  /** What `copy` wrote. */
  readonly from: string;
  readonly folder: string;
  readonly force: boolean;
}

/**
 * Prepares and verifies all databases before one is replaced, and keeps servers from opening them until it is disposed.
 * Throws `Unavailable` if the data is not next to the backup, is damaged, or is in use, and `Conflict` if there is other
 * data without `force`.
 */
async function holdDeployments({ backup, from, folder, force }: Restored): Promise<HeldFiles> {
  const deployments = await deploymentsIn(backup);
  if (deployments.length > 0 && !existsSync(from)) throw missing(backup, from, deployments);
  const held: { database: HeldDatabase; fresh: string | undefined }[] = [];
  const dispose = () => {
    for (const { database, fresh } of held) {
      if (fresh) removeSqlite(fresh);
      database[Symbol.dispose]();
    }
  };
  try {
    for (const { name, database } of deployments) {
      const path = join(folder, database);
      makeFolder(dirname(path), 0o700);
      const target = holdForReplacement(path);
      const source = join(from, database);
      const fresh = existsSync(source) ? `${path}.restore` : undefined;
      held.push({ database: target, fresh });
      if (!target.is_empty && !force) throw notEmpty(name);
      if (fresh) await copyDatabaseFile(source, fresh);
    }
  } catch (error) {
    dispose();
    throw error;
  }
  return {
    replace() {
      for (const { database, fresh } of held) {
        if (fresh) database.replaceBy(fresh);
        else removeSqlite(database.file);
      }
      for (const path of deployments.flatMap(({ uploads }) => uploads))
        if (existsSync(join(from, path))) copy(join(from, path), join(folder, path));
    },
    [Symbol.dispose]: dispose,
  };
}

async function deploymentsIn(file: string): Promise<DeploymentData[]> {
  await using reader: Reader & AsyncDisposable = openSqliteSnapshot(file);
  const table = await reader.get(sql`
    select count(*) as ${number('count')} from sqlite_master where type = 'table' and name = 'deployments'`);
  if (!table?.count) return [];
  const rows = await reader.all(sql`
    select ${columns('deployments', 'deployment_id, name')},
      deployments.source_revision_config ->> 'source_tarball_path' as ${nullable(text('newest'))},
      (select source_revision_config ->> 'source_tarball_path' from deployment_revisions
        where revision_id = active_revision_id) as ${nullable(text('active'))}
    from deployments order by name`);
  const unsafe = rows.find(({ name }) => !/^[a-z0-9_-]+$/.test(name));
  if (unsafe) throw new Unavailable(`${file} is damaged: it contains a deployment with an invalid name.`);
  return rows.map(({ name, newest, active }) => ({
    name,
    database: join('apps', name, 'data.sqlite'),
    uploads: [...new Set([newest, active])].filter((path) => path !== null && isUpload(path)) as string[],
  }));
}

/** Whether it is the path of an upload: a backup may have been changed, and no path may lead elsewhere. */
function isUpload(path: string): boolean {
  return /^uploads\/[0-9a-f-]{36}\/[0-9a-f-]{36}\.tar\.gz$/.test(path);
}

function hasData(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

async function copyDatabaseFile(from: string, to: string): Promise<void> {
  makeFolder(dirname(to), 0o700);
  vacuumInto(from, to);
  await assertIntact(to);
  removeCompanions(to);
}

function copy(from: string, to: string): void {
  makeFolder(dirname(to), 0o700);
  copyFileSync(from, to);
  flush(to);
}

function missing(backup: string, folder: string, deployments: readonly DeploymentData[]): Unavailable {
  const names = deployments.map(({ name }) => name).join(', ');
  return new Unavailable(
    `${backup} has deployments (${names}), whose data must be next to it, in ${folder}. Put it there, or restore the server alone with --database-only.`,
  );
}

function notEmpty(name: string): Conflict {
  return new Conflict(
    `Data of the deployment "${name}" already exists. Back it up, then replace it with --force.`,
  );
}
