import { toJson } from '../../../core/json.ts';
import { bind } from '../../../db/bind.ts';
import { columns } from '../../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../../db/db.ts';
import { and, list, sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import type {
  DeploymentSecret,
  DeploymentSource,
  SourceConfig,
  SourceRevisionConfig,
} from '../schemas/deployments.ts';
import { insertRevision, type NewRevision } from './revisions.ts';
import { DEPLOYMENT, type DeploymentRow, lockDeployment, parseDeployment, type RevisionRow } from './rows.ts';

/** Encryption context of the secrets. */
const SECRET_COLUMN = 'deployment_secrets.value';

export interface NewDeployment {
  readonly deployment_id: string;
  readonly name: string;
  readonly source: DeploymentSource;
  readonly source_config: SourceConfig;
  readonly source_revision_config: SourceRevisionConfig;
}

/** A change to a deployment. Without `secrets` they stay; `revision` is queued in the same transaction. */
export interface DeploymentChange extends Omit<NewDeployment, 'deployment_id' | 'name'> {
  readonly secrets?: readonly DeploymentSecret[] | undefined;
  readonly revision?: NewRevision | undefined;
}

export interface DeploymentFilter {
  readonly name?: string | undefined;
  readonly name_contains?: string | undefined;
  readonly deployment_type?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

export type DeploymentRepository = ReturnType<typeof deploymentRepository>;

export function deploymentRepository(db: Db) {
  return {
    ...bind(db, { insert, update, delete: deleteDeployment, find, findByName, secrets: secretsOf }),
    ...bind(db, { search, listAll, listActive, listFromRepositories }),
  };
}

/** Returns false if the name is taken. */
function insert(
  db: Db,
  { deployment_id, name, source, source_config, source_revision_config }: NewDeployment,
  secrets: readonly DeploymentSecret[],
  revision: NewRevision | undefined,
): Promise<boolean> {
  return db.transaction('sync', async (tx) => {
    const inserted = await tx.run(sql`
      insert into deployments
        (deployment_id, name, source, source_config, source_revision_config, created_at, updated_at)
      values (${deployment_id}, ${name}, ${source}, ${toJson(source_config)},
        ${toJson(source_revision_config)}, ${NOW}, ${NOW})
      on conflict (name) do nothing`);
    if (inserted === 0) return false;
    await insertSecrets(tx, deployment_id, secrets);
    if (revision) await insertRevision(tx, deployment_id, revision);
    return true;
  });
}

/**
 * Applies what `decide` makes of the locked deployment and its secrets: of two changes at once, the second would otherwise
 * undo the first. `decide` may be called more than once and must have no side effects. Returns the queued revision, if
 * any; false if the deployment does not exist.
 */
function update(
  db: Db,
  deployment_id: string,
  decide: (row: DeploymentRow, secrets: readonly DeploymentSecret[]) => DeploymentChange,
): Promise<RevisionRow | undefined | false> {
  return db.transaction('sync', async (tx) => {
    const row = await lockDeployment(tx, deployment_id);
    if (!row) return false;
    const { source, source_config, source_revision_config, secrets, revision } = decide(
      row,
      await secretsOf(tx, deployment_id),
    );
    await tx.run(sql`
      update deployments set source = ${source}, source_config = ${toJson(source_config)},
        source_revision_config = ${toJson(source_revision_config)}, updated_at = ${NOW}
      where deployment_id = ${deployment_id}`);
    if (secrets) {
      await tx.run(sql`delete from deployment_secrets where deployment_id = ${deployment_id}`);
      await insertSecrets(tx, deployment_id, secrets);
    }
    return revision && insertRevision(tx, deployment_id, revision);
  });
}

async function find(db: Db, deployment_id: string): Promise<DeploymentRow | undefined> {
  const row = await db.get(sql`select ${DEPLOYMENT} from deployments where deployment_id = ${deployment_id}`);
  return row && parseDeployment(row);
}

async function findByName(db: Db, name: string): Promise<DeploymentRow | undefined> {
  const row = await db.get(sql`select ${DEPLOYMENT} from deployments where name = ${name}`);
  return row && parseDeployment(row);
}

/** Newest first. */
async function search(db: Db, { limit, offset, ...filter }: DeploymentFilter): Promise<DeploymentRow[]> {
  const rows = await db.all(sql`
    select ${DEPLOYMENT} from deployments where ${conditions(filter)}
    order by created_at desc, deployment_id desc limit ${limit} offset ${offset}`);
  return rows.map(parseDeployment);
}

async function listAll(db: Db): Promise<DeploymentRow[]> {
  const rows = await db.all(sql`select ${DEPLOYMENT} from deployments order by created_at`);
  return rows.map(parseDeployment);
}

/** Deployments with a serving revision. */
async function listActive(db: Db): Promise<DeploymentRow[]> {
  const rows = await db.all(sql`
    select ${DEPLOYMENT} from deployments where active_revision_id is not null order by created_at`);
  return rows.map(parseDeployment);
}

/** Deployments built from a repository. */
async function listFromRepositories(db: Db): Promise<DeploymentRow[]> {
  const rows = await db.all(sql`
    select ${DEPLOYMENT} from deployments where source = 'github' order by created_at`);
  return rows.map(parseDeployment);
}

async function secretsOf(db: Reader, deployment_id: string): Promise<DeploymentSecret[]> {
  const rows = await db.all(sql`
    select ${columns('deployment_secrets', 'name, value')} from deployment_secrets
    where deployment_id = ${deployment_id} order by name`);
  return rows.map(({ name, value }) => ({ name, value: db.cipher.decryptText(SECRET_COLUMN, value) }));
}

/** Returns false if the deployment does not exist. */
async function deleteDeployment(db: Db, deployment_id: string): Promise<boolean> {
  return (await db.run(sql`delete from deployments where deployment_id = ${deployment_id}`, 'reclaim')) > 0;
}

function conditions({
  name,
  name_contains,
  deployment_type,
  ids,
}: Omit<DeploymentFilter, 'limit' | 'offset'>) {
  const type = sql`source_config ->> 'deployment_type'`;
  return and([
    sql`1 = 1`,
    name === undefined ? undefined : sql`name = ${name}`,
    // Deployment names are in lower case, so the searched text must be too.
    name_contains === undefined ? undefined : sql`name like ${`%${escaped(name_contains)}%`} escape '\\'`,
    deployment_type === undefined ? undefined : sql`${type} = ${deployment_type}`,
    ids === undefined ? undefined : sql`deployment_id in ${list(ids)}`,
  ]);
}

function escaped(text: string): string {
  return text.toLowerCase().replace(/[\\%_]/g, '\\$&');
}

async function insertSecrets(
  tx: Transaction,
  deployment_id: string,
  secrets: readonly DeploymentSecret[],
): Promise<void> {
  for (const { name, value } of secrets) {
    await tx.run(sql`
      insert into deployment_secrets (deployment_id, name, value)
      values (${deployment_id}, ${name}, ${tx.cipher.encryptText(SECRET_COLUMN, value)})`);
  }
}
