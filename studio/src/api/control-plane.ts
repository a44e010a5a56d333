import type { DeploymentHealth, NextAction, RevisionHealth } from '../../../src/schemas/deployment-health.ts';
import type {
  DeploymentHook,
  DeploymentHookSecret,
  DeploymentHooksList,
  HookKind,
} from '../../../src/schemas/deployment-hooks.ts';
import type {
  DeployKey,
  RepositoryToken,
  RepositoryTokenUpdate,
} from '../../../src/schemas/deployment-repositories.ts';
import type {
  Deployment,
  DeploymentLog,
  DeploymentLogs,
  DeploymentsList,
  Revision,
  RevisionsList,
  SourceConfig,
} from '../../../src/schemas/deployments.ts';
import type { RevisionExplanation } from '../../../src/schemas/revision-explanation.ts';
import { API_URL } from './base.ts';
import { dataOf } from './client.ts';

export type {
  DeployKey,
  Deployment,
  DeploymentHealth,
  DeploymentHook,
  DeploymentHooksList,
  DeploymentLog,
  HookKind,
  NextAction,
  RepositoryToken,
  Revision,
  RevisionHealth,
};

export type LogKind = 'build' | 'deploy';

interface LogPage {
  readonly order: 'desc';
  /** At most 1,000. */
  readonly limit: number;
  readonly start_time?: string | undefined;
}

/**
 * The control plane of deployments. The OpenAPI document that the other calls come from is that of a server without
 * deployments, so that these have the types of the server's own schemas. All throw as `dataOf` does.
 */
export const controlPlane = {
  /** The newest first, all or those with this text in their name. `limit`: at most 100. */
  list: (limit: number, offset: number, name_contains?: string): Promise<DeploymentsList> => {
    const named = name_contains === undefined ? '' : `&name_contains=${encodeURIComponent(name_contains)}`;
    return call('GET', `/v2/deployments?limit=${limit}&offset=${offset}${named}`);
  },

  get: (id: string): Promise<Deployment> => call('GET', at(id)),

  delete: (id: string): Promise<void> => call('DELETE', at(id)),

  /** The newest first. `limit`: at most 100. */
  revisions: (id: string, limit: number): Promise<RevisionsList> =>
    call('GET', at(id, `/revisions?limit=${limit}`)),

  revision: (id: string, revision_id: string): Promise<Revision> => call('GET', atRevision(id, revision_id)),

  /** Of any deployment. */
  explainRevision: (revision_id: string): Promise<RevisionExplanation> =>
    call('GET', `/v2/revisions/${encodeURIComponent(revision_id)}/explain`),

  /** Changes settings of all revisions; what is not named stays. Deploys nothing. */
  configure: (id: string, source_config: Pick<SourceConfig, 'build_on_push' | 'pin'>): Promise<Deployment> =>
    call('PATCH', at(id), { source_config }),

  /** Builds and deploys the newest sources. `canary_percent`: as a canary with that share of what is new, 1 to 99. */
  deployNewest: (id: string, canary_percent?: number): Promise<Revision> =>
    call('POST', at(id, '/revisions'), { trigger: 'manual', canary_percent }),

  /** Deploys the same code once more. */
  redeploy: (id: string, revision_id: string): Promise<Deployment> =>
    call('POST', atRevision(id, revision_id, '/redeploy')),

  /** Ends a revision that is on its way, or a canary. */
  interrupt: (id: string, revision_id: string): Promise<Revision> =>
    call('POST', atRevision(id, revision_id, '/interrupt')),

  /** A canary serves everything from then on. */
  promote: (id: string, revision_id: string): Promise<Revision> =>
    call('POST', atRevision(id, revision_id, '/promote')),

  /** What it does at this moment, and what to do next. */
  health: (id: string): Promise<DeploymentHealth> => call('GET', at(id, '/health')),

  /** All that are kept, the newest first. */
  hooks: (id: string): Promise<DeploymentHooksList> => call('GET', at(id, '/hooks?limit=100')),

  /** In place of the one before; shown this once. */
  createHookSecret: (id: string): Promise<DeploymentHookSecret> => call('POST', at(id, '/hook-secret')),

  deployKey: (id: string): Promise<DeployKey> => call('GET', at(id, '/deploy-key')),

  /** In place of the one before. */
  createDeployKey: (id: string): Promise<DeployKey> => call('POST', at(id, '/deploy-key')),

  token: (id: string): Promise<RepositoryToken> => call('GET', at(id, '/repository-token')),

  setToken: (id: string, body: RepositoryTokenUpdate): Promise<RepositoryToken> =>
    call('PUT', at(id, '/repository-token'), body),

  deleteOf: (id: string, what: 'deploy-key' | 'host-keys' | 'repository-token'): Promise<void> =>
    call('DELETE', at(id, `/${what}`)),

  logs: (id: string, revision_id: string, kind: LogKind, page: LogPage): Promise<DeploymentLogs> =>
    call('POST', `/v1/projects/${encodeURIComponent(id)}/revisions/${revision_id}/${kind}_logs`, page),
};

function at(id: string, rest = ''): string {
  return `/v2/deployments/${encodeURIComponent(id)}${rest}`;
}

function atRevision(id: string, revision_id: string, rest = ''): string {
  return at(id, `/revisions/${encodeURIComponent(revision_id)}${rest}`);
}

function call<Data>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<Data> {
  return dataOf(answerTo<Data>(method, path, body));
}

async function answerTo<Data>(method: string, path: string, body: object | undefined) {
  const response = await fetch(API_URL + path, {
    method,
    credentials: 'same-origin',
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const value: unknown = isJson ? JSON.parse(text) : text;
  return response.ok ? { data: value as Data, response } : { error: value, response };
}
