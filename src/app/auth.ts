import { ownerRule } from '../auth/access-rules.ts';
import { type Identity, UNRESTRICTED, type User } from '../auth/actor.ts';
import { keyRing } from '../auth/api-keys.ts';
import { type Authenticate, authentication } from '../auth/authenticate.ts';
import { type BrowserTokens, browserTokens } from '../auth/browser-tokens.ts';
import { customAuth } from '../auth/custom.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import { importFromProject } from '../graphs/project/load.ts';
import type { Storage } from '../storage/storage.ts';
import { loadConfigured } from './load-configured.ts';

/** Authentication and impersonation. */
export interface AccessControl {
  /** Undefined disables authentication. */
  readonly authenticate: Authenticate | undefined;
  readonly has_users: boolean;
  /** Token issuers, published for clients that obtain tokens themselves. */
  readonly issuers: readonly string[];
  readonly tokens: BrowserTokens;
  /** Impersonates a user for background work, such as a cron's run, with the current permissions. */
  readonly identityForUser: (user: User | null) => Identity;
}

/** Opens authentication as configured. Throws a one-line error if the custom auth handlers are invalid. */
export async function openAccessControl(
  config: Config,
  { apiKeys: stored, secrets, runs }: Pick<Storage, 'apiKeys' | 'secrets' | 'runs'>,
  { clock, ids }: { clock: Clock; ids: Ids },
): Promise<AccessControl> {
  const { auth, server } = config;
  const keys = keyRing({ api_keys: server.api_keys, stored, clock });
  const tokens = browserTokens({ secrets, keys, hasRunOn: runs.existsForAssistant, clock, ids });
  const custom = await openCustomAuth(config, clock);
  const jwt = await openJwtAuth(config, clock);
  const has_users = custom !== undefined || jwt !== undefined;
  const isNeeded = has_users || auth.required || server.api_keys.length > 0;
  return {
    authenticate: isNeeded ? authentication({ keys, tokens, custom, jwt }) : undefined,
    has_users,
    issuers: auth.jwt?.issuer === undefined ? auth.authorization_servers : [auth.jwt.issuer],
    tokens,
    identityForUser(user) {
      if (user === null) return UNRESTRICTED;
      return custom?.identityOf(user) ?? ownerIdentity(user, auth.jwt?.admin_permission);
    },
  };
}

/** Loads the custom auth handlers. Throws a one-line error if they are invalid. */
export async function openCustomAuth(config: Config, clock: Clock) {
  const { path, cache, disable_studio_auth } = config.auth;
  if (path === undefined) return undefined;
  const handlers = importFromProject(path, config.root, (exported) =>
    customAuth(exported, { cache, studio: !disable_studio_auth }, clock),
  );
  return loadConfigured(config, 'auth.path', handlers);
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
    principal: user.identity,
  };
}
