import { bind } from '../../../db/bind.ts';
import type { Db } from '../../../db/db.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import { lockDeployment, parseRepository, REPOSITORY, type RepositoryRow } from './rows.ts';

/** Encryption contexts. */
const HOOK_SECRET = 'deployment_repositories.hook_secret';
const DEPLOY_KEY = 'deployment_repositories.deploy_key';
const TOKEN = 'deployment_repositories.token';

/** Credentials of the server for a repository. All but `known_hosts` are secret. */
export interface StoredCredentials {
  /** Private key in OpenSSH format. */
  readonly deploy_key?: string | undefined;
  readonly token?: StoredToken | undefined;
  /** Pinned host keys. */
  readonly known_hosts?: string | undefined;
}

export interface StoredToken {
  readonly token: string;
  /** `null`: the user name that the git service expects with a token. */
  readonly username: string | null;
  /** The only host, with its port, that receives the token. */
  readonly host: string;
}

/** What clients may see: for secrets, only when they were set. */
export type RepositoryAccess = Omit<RepositoryRow, 'deployment_id' | 'hook_secret' | 'deploy_key' | 'token'>;

export type RepositoryAccessRepository = ReturnType<typeof repositoryAccessRepository>;

/**
 * How the server reaches the repository of a deployment. Changes return `undefined` if the deployment does not exist.
 */
export function repositoryAccessRepository(db: Db) {
  return {
    ...bind(db, { find, hookSecret, setHookSecret, credentials, pinHosts, unpinHosts }),
    ...bind(db, { setDeployKey, deleteDeployKey, setToken, deleteToken }),
  };
}

async function find(db: Db, deployment_id: string): Promise<RepositoryAccess | undefined> {
  const row = await rowOf(db, deployment_id);
  return row && withoutSecrets(row);
}

async function hookSecret(db: Db, deployment_id: string): Promise<string | undefined> {
  const secret = (await rowOf(db, deployment_id))?.hook_secret;
  return secret == null ? undefined : db.cipher.decryptText(HOOK_SECRET, secret);
}

async function credentials(db: Db, deployment_id: string): Promise<StoredCredentials> {
  const row = await rowOf(db, deployment_id);
  if (!row) return {};
  const { cipher } = db;
  const { deploy_key, token, token_username: username, token_host: host, known_hosts } = row;
  return {
    ...(deploy_key !== null && { deploy_key: cipher.decryptText(DEPLOY_KEY, deploy_key) }),
    ...(token !== null &&
      host !== null && { token: { token: cipher.decryptText(TOKEN, token), username, host } }),
    ...(known_hosts !== null && { known_hosts }),
  };
}

function setHookSecret(db: Db, deployment_id: string, secret: string) {
  const encrypted = db.cipher.encryptText(HOOK_SECRET, secret);
  return change(db, deployment_id, sql`hook_secret = ${encrypted}, hook_secret_at = ${NOW}`);
}

function setDeployKey(db: Db, deployment_id: string, keys: { private_key: string; public_key: string }) {
  const encrypted = db.cipher.encryptText(DEPLOY_KEY, keys.private_key);
  const set = sql`deploy_key = ${encrypted}, public_key = ${keys.public_key}, deploy_key_at = ${NOW}`;
  return change(db, deployment_id, set);
}

function deleteDeployKey(db: Db, deployment_id: string) {
  return change(db, deployment_id, sql`deploy_key = null, public_key = null, deploy_key_at = null`);
}

function setToken(db: Db, deployment_id: string, { token, username, host }: StoredToken) {
  const encrypted = db.cipher.encryptText(TOKEN, token);
  const set = sql`token = ${encrypted}, token_username = ${username}, token_host = ${host}, token_at = ${NOW}`;
  return change(db, deployment_id, set);
}

function deleteToken(db: Db, deployment_id: string) {
  const set = sql`token = null, token_username = null, token_host = null, token_at = null`;
  return change(db, deployment_id, set);
}

/** Compare-and-set of the pinned host keys: no change if they are no longer `before`: another connection was first. */
async function pinHosts(db: Db, deployment_id: string, before: string | undefined, known_hosts: string) {
  if (known_hosts === before) return;
  const isSame = before === undefined ? sql`known_hosts is null` : sql`known_hosts = ${before}`;
  const set = sql`known_hosts = case when ${isSame} then ${known_hosts} else known_hosts end`;
  await change(db, deployment_id, set);
}

/** Unpins the host keys: the next connection accepts whichever key the host presents. */
function unpinHosts(db: Db, deployment_id: string) {
  return change(db, deployment_id, sql`known_hosts = null`);
}

function change(db: Db, deployment_id: string, assignments: Sql): Promise<RepositoryAccess | undefined> {
  return db.transaction('sync', async (tx) => {
    if (!(await lockDeployment(tx, deployment_id))) return undefined;
    await tx.run(sql`
      insert into deployment_repositories (deployment_id) values (${deployment_id})
      on conflict (deployment_id) do nothing`);
    const row = await tx.get(sql`
      update deployment_repositories set ${assignments} where deployment_id = ${deployment_id}
      returning ${REPOSITORY}`);
    return row && withoutSecrets(parseRepository(row));
  });
}

async function rowOf(db: Db, deployment_id: string): Promise<RepositoryRow | undefined> {
  const row = await db.get(
    sql`select ${REPOSITORY} from deployment_repositories where deployment_id = ${deployment_id}`,
  );
  return row && parseRepository(row);
}

function withoutSecrets({
  deployment_id: _,
  hook_secret: _1,
  deploy_key: _2,
  token: _3,
  ...rest
}: RepositoryRow): RepositoryAccess {
  return rest;
}
