import type { Actor } from '../../../auth/actor.ts';
import { Conflict } from '../../../core/errors.ts';
import type { DeployKey, RepositoryToken, RepositoryTokenUpdate } from '../schemas/repositories.ts';
import type { RepositoryAccess, RepositoryAccessRepository } from '../storage/repositories.ts';
import { type DeploymentDeps, missingDeployment, requireDeployment } from './control-plane.ts';
import { type CreateDeployKey, httpsHost } from './repository.ts';

export interface RepositoryDeps extends Pick<DeploymentDeps, 'deployments' | 'logger'> {
  readonly repositoryAccess: RepositoryAccessRepository;
  readonly createDeployKey: CreateDeployKey;
}

export type RepositoryService = ReturnType<typeof repositoryService>;

/** Credentials for private repositories. Every method throws `NotFound` if the deployment does not exist. */
export function repositoryService({
  deployments,
  repositoryAccess,
  createDeployKey,
  logger,
}: RepositoryDeps) {
  const require = (actor: Actor, deployment_id: string) =>
    requireDeployment(deployments, actor, deployment_id);

  async function change(
    actor: Actor,
    deployment_id: string,
    what: string,
    apply: (id: string) => Promise<RepositoryAccess | undefined>,
  ): Promise<RepositoryAccess> {
    const { deployment_id: id, name } = await require(actor, deployment_id);
    const access = await apply(id);
    if (!access) throw missingDeployment(id);
    logger.info(what, { deployment: name, by_key: actor.key });
    return access;
  }

  return {
    async deployKey(actor: Actor, deployment_id: string): Promise<DeployKey> {
      const row = await require(actor, deployment_id);
      return deployKeyView(await repositoryAccess.find(row.deployment_id));
    },

    /** Creates a key pair that replaces the previous one. Host keys stay pinned. */
    async createDeployKey(actor: Actor, deployment_id: string): Promise<DeployKey> {
      const { name } = await require(actor, deployment_id);
      const pair = createDeployKey(`agent-server ${name}`);
      const access = await change(actor, deployment_id, 'deploy key created', (id) =>
        repositoryAccess.setDeployKey(id, pair),
      );
      return deployKeyView(access);
    },

    async deleteDeployKey(actor: Actor, deployment_id: string): Promise<void> {
      await change(actor, deployment_id, 'deploy key deleted', repositoryAccess.deleteDeployKey);
    },

    /** The next connection accepts and pins whichever key the host presents. */
    async deleteHostKeys(actor: Actor, deployment_id: string): Promise<void> {
      await change(actor, deployment_id, 'host keys deleted', repositoryAccess.unpinHosts);
    },

    async token(actor: Actor, deployment_id: string): Promise<RepositoryToken> {
      const row = await require(actor, deployment_id);
      return tokenView(await repositoryAccess.find(row.deployment_id));
    },

    /** Throws `Conflict` unless the repository is reached over https: the token is for its host. */
    async setToken(
      actor: Actor,
      deployment_id: string,
      { token, username }: RepositoryTokenUpdate,
    ): Promise<RepositoryToken> {
      const { source_config } = await require(actor, deployment_id);
      const host = httpsHost(source_config.repo_url);
      if (host === undefined) {
        throw new Conflict(
          'A token requires a repository over https: set source_config.repo_url to its https URL first, or use a deploy key.',
        );
      }
      const access = await change(actor, deployment_id, 'repository token set', (id) =>
        repositoryAccess.setToken(id, { token, username: username ?? null, host }),
      );
      return tokenView(access);
    },

    async deleteToken(actor: Actor, deployment_id: string): Promise<void> {
      await change(actor, deployment_id, 'repository token deleted', repositoryAccess.deleteToken);
    },
  };
}

function deployKeyView(access: RepositoryAccess | undefined): DeployKey {
  return {
    public_key: access?.public_key ?? null,
    created_at: access?.deploy_key_at ?? null,
    host_keys: (access?.known_hosts ?? '').split('\n').filter(Boolean),
  };
}

function tokenView(access: RepositoryAccess | undefined): RepositoryToken {
  return {
    is_set: access?.token_at != null,
    host: access?.token_host ?? null,
    username: access?.token_username ?? null,
    updated_at: access?.token_at ?? null,
  };
}
