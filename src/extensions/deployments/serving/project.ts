import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ConfigError } from '../../../config/errors.ts';
import { envFilePath, readConfigFile } from '../../../config/files.ts';
import { loadConfig } from '../../../config/load.ts';
import type { Config } from '../../../config/schema.ts';
import { substitute } from '../../../config/substitute.ts';
import type { Apps } from '../../extension.ts';
import { pathOfDeployment } from '../addresses.ts';
import { MAX_PARSED_BYTES } from '../build/project/project-file.ts';
import { deploymentSettings } from '../section.ts';
import type { ServedRevision } from '../services/plane.ts';
import { checkFailure, reasonOf } from './check-failure.ts';

/** The server's part of a deployment's configuration. */
export interface Surroundings extends Pick<Apps, 'sectionsOfServer'> {
  readonly server: Config;
  /** Database URL of the deployment. */
  readonly database: string;
  /** Whether callers of the server must authenticate. */
  readonly is_protected: boolean;
}

/**
 * Builds the configuration of a deployment: the project's part from its own file; the machine's part, such as
 * addresses, storage, limits and webhooks, from the server's. Throws a `RevisionError`.
 */
export async function deploymentConfig(
  revision: ServedRevision,
  { server, database, is_protected, sectionsOfServer }: Surroundings,
): Promise<Config> {
  const root = pathWithin(revision.folder, revision.built.root);
  const file = pathWithin(root, revision.built.config_file);
  const own = await load(root, file, revision);
  const settings = deploymentSettings(server);
  refuseServerKeys(own);
  return {
    ...own,
    env: { ...own.env, ...revision.secrets },
    server: { ...server.server, role: 'all' },
    storage: {
      ...server.storage,
      url: database,
      max_connections: settings.max_connections,
      // The database belongs to this process alone: no other process migrates it or sends notifications.
      migrations: 'apply',
      notifications: 'off',
    },
    encryption: server.encryption,
    runs: server.runs,
    hosts: { ...server.hosts, count: settings.hosts },
    ...sectionsOfServer(server),
    log: server.log,
    metrics: server.metrics,
    webhooks: server.webhooks,
    http: { ...own.http, mount_prefix: pathOfDeployment(server, revision.name) },
    auth: { ...own.auth, required: own.auth.required || is_protected },
  };
}

/** Only the deployment's variables: its file must not read the server's environment. */
async function load(root: string, file: string, { folder, secrets }: ServedRevision): Promise<Config> {
  // These keys are replaced below, so their values must not invalidate the file.
  const flags = {
    'server.host': '127.0.0.1',
    'server.role': 'all',
    'storage.url': 'sqlite::memory:',
    'deployments.enabled': 'false',
  };
  try {
    await requireFile(folder, file);
    const env = substitute((await readConfigFile(file))['env'], secrets, () => {}, 'env');
    await requireFile(folder, envFilePath(env, root) ?? file);
    const { config } = await loadConfig({ cwd: root, file, environment: secrets, flags });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw checkFailure({
      ...{ code: 'config_invalid', cause: error, advice: 'Fix it, and deploy again.' },
      what: `The configuration is not valid: ${reasonOf(error)}`,
    });
  }
}

/**
 * Throws unless the server may read the file, if it exists. The build may have replaced it by a named pipe, where the
 * server would wait without end, or by a link to a file of the server.
 */
async function requireFile(folder: string, path: string): Promise<void> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return;
  const info = await stat(real);
  const name = relative(folder, path);
  if (!info.isFile() || !real.startsWith((await realpath(folder)) + sep)) {
    throw checkFailure({
      code: 'config_outside',
      what: `${name} is not a file of the sources`,
      advice: 'Replace it by one, and deploy again.',
    });
  }
  if (info.size > MAX_PARSED_BYTES) {
    throw checkFailure({
      code: 'config_invalid',
      what: `${name} has more than 1 MB`,
      advice: 'Shorten it, and deploy again.',
    });
  }
}

/** Rejects keys that would execute code in the server, or make it call addresses that a stranger chose. */
function refuseServerKeys({ encryption, auth }: Config): void {
  if (encryption.path !== undefined) {
    throw checkFailure({
      code: 'encryption_refused',
      what: 'encryption.path cannot be used in a deployment',
      advice: 'Remove it: the server encrypts the data of deployments with its own keys.',
    });
  }
  if (auth.jwt !== undefined) {
    throw checkFailure({
      code: 'jwt_refused',
      what: 'auth.jwt cannot be used in a deployment',
      advice: 'Verify tokens in handlers of auth.path, which run in processes of the deployment.',
    });
  }
}

/** Throws if the path points outside the folder. */
function pathWithin(folder: string, path: string): string {
  const full = resolve(folder, path);
  const from = relative(folder, full);
  if (from.startsWith('..') || isAbsolute(from)) {
    throw checkFailure({
      code: 'config_outside',
      what: 'The path of the configuration points outside the sources',
      advice: 'Use a path relative to their root.',
    });
  }
  return join(full);
}
