import { ownerRule } from '../auth/access-rules.ts';
import { type Identity, principalOf, UNRESTRICTED, type User } from '../auth/actor.ts';
import { GRAPHS_OF_DEPLOYMENT, type KeyRing, keyRing } from '../auth/api-keys.ts';
import { type Authenticate, authentication } from '../auth/authenticate.ts';
import { type BrowserTokens, browserTokens } from '../auth/browser-tokens.ts';
import { customAuth } from '../auth/custom.ts';
import { authHandlers } from '../auth/handlers.ts';
import { loadConfigured } from '../config/load-configured.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import { importFromProject } from '../graphs/project/load.ts';
import type { Asking } from '../hosts/pool/ask.ts';
import { loadedInHosts, remoteAuthHandlers } from '../hosts/pool/project-code.ts';
import type { ApiKey, KeyLookup } from '../storage/access/api-keys.ts';
import type { Storage } from '../storage/storage.ts';

/** Authentication and impersonation. */
export interface AccessControl {
  /** Undefined disables authentication. */
  readonly authenticate: Authenticate | undefined;
  readonly has_users: boolean;
  /** In a deployment without users: its graphs, whose client may send no key, or one that the SDK found. */
  readonly own_graphs: Identity | undefined;
  /** Token issuers, published for clients that obtain tokens themselves. */
  readonly issuers: readonly string[];
  readonly tokens: BrowserTokens;
  readonly keys: KeyRing;
  /** Impersonates a user for background work, such as a cron's run, with the current permissions. */
  readonly identityForUser: (user: User | null) => Identity;
}

interface AccessContext {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hosts: Asking | undefined;
  /** For a deployment: the server's keys with scope `admin` are valid for it too. */
  readonly administrators?: KeyLookup;
  /** For a deployment: the token of its graphs, which no other deployment accepts. */
  readonly graph_token?: string | undefined;
}

/** Looks up keys in the deployment's database first, then admin keys of the server. */
function withAdministrators(own: KeyLookup, server: KeyLookup): KeyLookup {
  const adminOnly = async (found: Promise<ApiKey | undefined>) => {
    const key = await found;
    return key?.scope === 'admin' ? key : undefined;
  };
  return {
    findByDigest: async (digest) =>
      (await own.findByDigest(digest)) ?? adminOnly(server.findByDigest(digest)),
    get: async (key_id) => (await own.get(key_id)) ?? adminOnly(server.get(key_id)),
    async recordUse(key_id, at) {
      await own.recordUse(key_id, at);
      await server.recordUse(key_id, at);
    },
  };
}

/** Opens authentication as configured. Throws a one-line error if the custom auth handlers are invalid. */
export async function openAccessControl(
  config: Config,
  { apiKeys: stored, secrets, runs }: Pick<Storage, 'apiKeys' | 'secrets' | 'runs'>,
  { clock, ids, hosts, administrators, graph_token }: AccessContext,
): Promise<AccessControl> {
  const { auth, server } = config;
  const known = administrators ? withAdministrators(stored, administrators) : stored;
  const keys = keyRing({ api_keys: server.api_keys, stored: known, graph_token, clock });
  const tokens = browserTokens({ secrets, keys, hasRunOn: runs.existsForAssistant, clock, ids });
  const custom = await openCustomAuth(config, clock, hosts);
  const jwt = await openJwtAuth(config, clock);
  const has_users = custom !== undefined || jwt !== undefined;
  const isNeeded = has_users || auth.required || server.api_keys.length > 0;
  return {
    authenticate: isNeeded ? authentication({ keys, tokens, custom, jwt }) : undefined,
    own_graphs: graph_token !== undefined && !has_users ? GRAPHS_OF_DEPLOYMENT : undefined,
    has_users,
    issuers: auth.jwt?.issuer === undefined ? auth.authorization_servers : [auth.jwt.issuer],
    tokens,
    keys,
    identityForUser,
  };

  function identityForUser(user: User | null): Identity {
    if (user === null) return UNRESTRICTED;
    return custom?.identityOf(user) ?? ownerIdentity(user, auth.jwt?.admin_permission);
  }
}

/** Loads the custom auth handlers, in this process without `hosts`. Throws a one-line error if they are invalid. */
export async function openCustomAuth(config: Config, clock: Clock, hosts?: Asking) {
  const { path, cache, disable_studio_auth } = config.auth;
  if (path === undefined) return undefined;
  const loading = hosts
    ? loadedInHosts(hosts, 'auth').then(() => remoteAuthHandlers(hosts))
    : importFromProject(path, config.root, authHandlers);
  const handlers = await loadConfigured(config, 'auth.path', loading);
  return customAuth(handlers, { cache, studio: !disable_studio_auth }, clock);
}

/** Imported on demand, because its JWT library is large. */
async function openJwtAuth({ auth: { jwt } }: Config, clock: Clock) {
  if (!jwt) return undefined;
  const { jwtAuthentication } = await import('../auth/jwt.ts');
  return jwtAuthentication(jwt, clock);
}

function ownerIdentity(user: User, admin_permission: string | undefined): Identity {
  const isAdmin = admin_permission !== undefined && user.permissions.includes(admin_permission);
  return {
    ...UNRESTRICTED,
    user,
    rules: isAdmin ? [] : [ownerRule(user.identity)],
    principal: principalOf('user', user.identity),
  };
}
