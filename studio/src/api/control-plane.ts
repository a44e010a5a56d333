import type {
  Deployment,
  DeploymentLog,
  DeploymentLogs,
  DeploymentsList,
  Revision,
  RevisionsList,
} from '../../../src/schemas/deployments.ts';
import { API_URL } from './base.ts';
import { dataOf } from './client.ts';

export type { Deployment, DeploymentLog, Revision };

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
  /** The newest first. `limit`: at most 100. */
  list: (limit: number, offset: number): Promise<DeploymentsList> =>
    call('GET', `/v2/deployments?limit=${limit}&offset=${offset}`),

  get: (id: string): Promise<Deployment> => call('GET', at(id)),

  delete: (id: string): Promise<void> => call('DELETE', at(id)),

  /** The newest first. `limit`: at most 100. */
  revisions: (id: string, limit: number): Promise<RevisionsList> =>
    call('GET', at(id, `/revisions?limit=${limit}`)),

  revision: (id: string, revision_id: string): Promise<Revision> => call('GET', atRevision(id, revision_id)),

  /** Builds and deploys the newest sources. */
  deployNewest: (id: string): Promise<Revision> => call('POST', at(id, '/revisions'), { trigger: 'manual' }),

  /** Deploys the same code once more. */
  redeploy: (id: string, revision_id: string): Promise<Deployment> =>
    call('POST', atRevision(id, revision_id, '/redeploy')),

  interrupt: (id: string, revision_id: string): Promise<Revision> =>
    call('POST', atRevision(id, revision_id, '/interrupt')),

  logs: (id: string, revision_id: string, kind: LogKind, page: LogPage): Promise<DeploymentLogs> =>
    call('POST', `/v1/projects/${encodeURIComponent(id)}/revisions/${revision_id}/${kind}_logs`, page),
};

function at(id: string, rest = ''): string {
  return `/v2/deployments/${encodeURIComponent(id)}${rest}`;
}

function atRevision(id: string, revision_id: string, rest = ''): string {
  return at(id, `/revisions/${encodeURIComponent(revision_id)}${rest}`);
}

function call<Data>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Data> {
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
