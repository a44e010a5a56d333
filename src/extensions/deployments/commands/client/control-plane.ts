import { call, type Server } from '../../../../cli/ask/client.ts';
import { StartFailure } from '../../../../node.ts';
import {
  Deployment,
  DeploymentLogs,
  DeploymentsList,
  type LogSearch,
  Revision,
  RevisionsList,
  UploadUrl,
} from '../../schemas/deployments.ts';
import { DeploymentHealth } from '../../schemas/health.ts';
import { DeploymentHookSecret, DeploymentHooksList } from '../../schemas/hooks.ts';
import { DeployKey, RepositoryToken } from '../../schemas/repositories.ts';

/** Turns a schema into a type guard for replies. */
function as<T>(schema: { safeParse(value: unknown): { success: boolean } }) {
  return (answer: unknown): answer is T => schema.safeParse(answer).success;
}

const isDeployment = as<Deployment>(Deployment);
const isDeployments = as<DeploymentsList>(DeploymentsList);
const isRevision = as<Revision>(Revision);
const isRevisions = as<RevisionsList>(RevisionsList);
const isUploadUrl = as<UploadUrl>(UploadUrl);
const isLogs = as<DeploymentLogs>(DeploymentLogs);
const isHealth = as<DeploymentHealth>(DeploymentHealth);
const isHooks = as<DeploymentHooksList>(DeploymentHooksList);
const isHookSecret = as<DeploymentHookSecret>(DeploymentHookSecret);
const isDeployKey = as<DeployKey>(DeployKey);
const isRepositoryToken = as<RepositoryToken>(RepositoryToken);
const isNothing = (answer: unknown): answer is undefined => answer === undefined;

export type ControlPlane = ReturnType<typeof controlPlane>;

/** Client for `/v2/deployments`. Every method throws a `StartFailure` with the server's error. */
export function controlPlane(server: Server) {
  const at = (id: string, rest = '') => `/v2/deployments/${id}${rest}`;
  return {
    create: (body: object): Promise<Deployment> =>
      call(server, { method: 'POST', path: '/v2/deployments', body }, isDeployment),

    async list(query = ''): Promise<Deployment[]> {
      const path = `/v2/deployments?limit=100${query}`;
      return (await call(server, { method: 'GET', path }, isDeployments)).resources;
    },

    async find(name: string): Promise<Deployment | undefined> {
      return (await this.list(`&name=${encodeURIComponent(name)}`))[0];
    },

    /** Throws a `StartFailure` if there is no deployment with the name. */
    async require(name: string): Promise<Deployment> {
      const found = await this.find(name);
      if (found) return found;
      throw new StartFailure(
        `deployment "${name}" not found at ${server.url}: see agent-server deployments list`,
      );
    },

    update: (id: string, body: object): Promise<Deployment> =>
      call(server, { method: 'PATCH', path: at(id), body }, isDeployment),

    delete: (id: string): Promise<undefined> => call(server, { method: 'DELETE', path: at(id) }, isNothing),

    uploadUrl: (id: string): Promise<UploadUrl> =>
      call(server, { method: 'POST', path: at(id, '/upload-url') }, isUploadUrl),

    /** Newest first. */
    async revisions(id: string, limit = 20): Promise<Revision[]> {
      const path = at(id, `/revisions?limit=${limit}`);
      return (await call(server, { method: 'GET', path }, isRevisions)).resources;
    },

    revision: (id: string, revision_id: string): Promise<Revision> =>
      call(server, { method: 'GET', path: at(id, `/revisions/${revision_id}`) }, isRevision),

    redeploy: (id: string, revision_id: string): Promise<Deployment> =>
      call(server, { method: 'POST', path: at(id, `/revisions/${revision_id}/redeploy`) }, isDeployment),

    interrupt: (id: string, revision_id: string): Promise<Revision> =>
      call(server, { method: 'POST', path: at(id, `/revisions/${revision_id}/interrupt`) }, isRevision),

    health: (id: string): Promise<DeploymentHealth> =>
      call(server, { method: 'GET', path: at(id, '/health') }, isHealth),

    promote: (id: string, revision_id: string): Promise<Revision> =>
      call(server, { method: 'POST', path: at(id, `/revisions/${revision_id}/promote`) }, isRevision),

    hooks: (id: string): Promise<DeploymentHooksList> =>
      call(server, { method: 'GET', path: at(id, '/hooks?limit=100') }, isHooks),

    createHookSecret: (id: string): Promise<DeploymentHookSecret> =>
      call(server, { method: 'POST', path: at(id, '/hook-secret') }, isHookSecret),

    deployKey: (id: string, method: 'GET' | 'POST'): Promise<DeployKey> =>
      call(server, { method, path: at(id, '/deploy-key') }, isDeployKey),

    token: (id: string): Promise<RepositoryToken> =>
      call(server, { method: 'GET', path: at(id, '/repository-token') }, isRepositoryToken),

    setToken: (id: string, body: object): Promise<RepositoryToken> =>
      call(server, { method: 'PUT', path: at(id, '/repository-token'), body }, isRepositoryToken),

    /** `what`: `deploy-key`, `host-keys` or `repository-token`. */
    deleteOf: (id: string, what: 'deploy-key' | 'host-keys' | 'repository-token'): Promise<undefined> =>
      call(server, { method: 'DELETE', path: at(id, `/${what}`) }, isNothing),

    logs: (id: string, revision_id: string, kind: 'build' | 'deploy', body: Partial<LogSearch>) =>
      call(
        server,
        { method: 'POST', path: `/v1/projects/${id}/revisions/${revision_id}/${kind}_logs`, body },
        isLogs,
      ),
  };
}
