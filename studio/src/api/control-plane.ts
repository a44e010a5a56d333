import type {
  Deployment,
  DeploymentLog,
  DeploymentLogs,
  DeploymentsList,
  Revision,
  RevisionsList,
  SourceConfig,
} from '../../../src/extensions/deployments/schemas/deployments.ts';
import type {
  DeploymentHealth,
  NextAction,
  RevisionHealth,
} from '../../../src/extensions/deployments/schemas/health.ts';
import type {
  DeploymentHook,
  DeploymentHookSecret,
  DeploymentHooksList,
  HookKind,
} from '../../../src/extensions/deployments/schemas/hooks.ts';
import type {
  DeployKey,
  RepositoryToken,
  RepositoryTokenUpdate,
} from '../../../src/extensions/deployments/schemas/repositories.ts';
import type { RevisionExplanation } from '../../../src/extensions/deployments/schemas/revision-explanation.ts';
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
 * Client of the deployments control plane. The OpenAPI document behind the other calls is of a server without deployments,
 * so these use the types of the server's schemas. All throw like `dataOf`.
 */
export const controlPlane = {
  /** Newest first: all of them, or those with this text in their name. `limit`: at most 100. */
  list: (limit: number, offset: number, name_contains?: string): Promise<DeploymentsList> => {
    const named = name_contains === undefined ? '' : `&name_contains=${encodeURIComponent(name_contains)}`;
    return call('GET', `/v2/deployments?limit=${limit}&offset=${offset}${named}`);
  },

  get: (id: string): Promise<Deployment> => call('GET', at(id)),

  delete: (id: string): Promise<void> => call('DELETE', at(id)),

  /** Newest first. `limit`: at most 100. */
  revisions: (id: string, limit: number): Promise<RevisionsList> =>
    call('GET', at(id, `/revisions?limit=${limit}`)),

  revision: (id: string, revision_id: string): Promise<Revision> => call('GET', atRevision(id, revision_id)),

  /** A revision of any deployment. */
  explainRevision: (revision_id: string): Promise<RevisionExplanation> =>
    call('GET', `/v2/revisions/${encodeURIComponent(revision_id)}/explain`),

  /** Changes settings of all revisions. Omitted settings are kept, and nothing is deployed. */
  configure: (id: string, source_config: Pick<SourceConfig, 'build_on_push' | 'pin'>): Promise<Deployment> =>
    call('PATCH', at(id), { source_config }),

  /**
   * Builds and deploys the newest sources. `canary_percent` (1 to 99) deploys a canary with that share of new threads and
   * stateless runs.
   */
  deployNewest: (id: string, canary_percent?: number): Promise<Revision> =>
    call('POST', at(id, '/revisions'), { trigger: 'manual', canary_percent }),

  /** Deploys the same code again. */
  redeploy: (id: string, revision_id: string): Promise<Deployment> =>
    call('POST', atRevision(id, revision_id, '/redeploy')),

  /** Stops a revision that is being deployed, or a canary. */
  interrupt: (id: string, revision_id: string): Promise<Revision> =>
    call('POST', atRevision(id, revision_id, '/interrupt')),

  /** Promotes a canary to serve all traffic. */
  promote: (id: string, revision_id: string): Promise<Revision> =>
    call('POST', atRevision(id, revision_id, '/promote')),

  /** Current state of a deployment, and the next step. */
  health: (id: string): Promise<DeploymentHealth> => call('GET', at(id, '/health')),

  /** All stored ones, newest first. */
  hooks: (id: string): Promise<DeploymentHooksList> => call('GET', at(id, '/hooks?limit=100')),

  /** Replaces the previous one. The response is the only place where it is shown. */
  createHookSecret: (id: string): Promise<DeploymentHookSecret> => call('POST', at(id, '/hook-secret')),

  deployKey: (id: string): Promise<DeployKey> => call('GET', at(id, '/deploy-key')),

  /** Replaces the previous one. */
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
