import { isAbsolute, join, relative, resolve } from 'node:path';
import { ConfigError } from '../../config/errors.ts';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import type { ServedRevision } from '../../services/deployments/data-plane.ts';
import { pathOfDeployment } from '../service-settings.ts';
import { checkFailure, reasonOf } from './check-failure.ts';

/** What the server gives to the configuration of a deployment. */
export interface Surroundings {
  readonly server: Config;
  /** URL of its database. */
  readonly database: string;
  /** Callers of the server must authenticate. */
  readonly is_protected: boolean;
}

/**
 * The configuration of a deployment: what belongs to its project, from its own file; what belongs to the machine, such
 * as addresses, storage, limits and webhooks, from that of the server. Throws a `RevisionError`.
 */
export async function deploymentConfig(
  revision: ServedRevision,
  { server, database, is_protected }: Surroundings,
): Promise<Config> {
  const root = pathWithin(revision.folder, revision.built.root);
  const file = pathWithin(root, revision.built.config_file);
  const own = await load(root, file, revision);
  refuseServerKeys(own);
  return {
    ...own,
    env: { ...own.env, ...revision.secrets },
    server: { ...server.server, role: 'all' },
    storage: {
      ...server.storage,
      url: database,
      max_connections: server.deployments.max_connections,
      // It belongs to this process alone: no other process migrates it or sends notifications.
      migrations: 'apply',
      notifications: 'off',
    },
    encryption: server.encryption,
    runs: server.runs,
    usage: server.usage,
    hosts: { ...server.hosts, count: server.deployments.hosts },
    deployments: { ...server.deployments, enabled: false },
    studio: server.studio,
    log: server.log,
    metrics: server.metrics,
    webhooks: server.webhooks,
    http: { ...own.http, mount_prefix: pathOfDeployment(server, revision.name) },
    auth: { ...own.auth, required: own.auth.required || is_protected },
  };
}

/** Its own variables only: none of the server's environment may be named in the file. */
async function load(root: string, file: string, { secrets }: ServedRevision): Promise<Config> {
  // What the file says of these is replaced below; it must not make the file invalid.
  const flags = {
    'server.host': '127.0.0.1',
    'server.role': 'all',
    'storage.url': 'sqlite::memory:',
    'deployments.enabled': 'false',
  };
  try {
    const { config } = await loadConfig({ cwd: root, file, environment: secrets, flags });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw checkFailure({
      ...{ code: 'config_invalid', cause: error, advice: 'Correct it, and deploy again.' },
      what: `The configuration is not valid: ${reasonOf(error)}`,
    });
  }
}

/** What would execute code in the server, or make it call addresses that a stranger chose. */
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
      advice: 'Verify tokens in handlers of auth.path, which run in its own processes.',
    });
  }
}

/** Throws for a path that leads out of the folder. */
function pathWithin(folder: string, path: string): string {
  const full = resolve(folder, path);
  const from = relative(folder, full);
  if (from.startsWith('..') || isAbsolute(from)) {
    throw checkFailure({
      code: 'config_outside',
      what: 'The path of the configuration leads out of the sources',
      advice: 'Give one that is relative to their root.',
    });
  }
  return join(full);
}
