import type { HookKind } from '../schemas/hooks.ts';
import type { StoredCredentials } from '../storage/repositories.ts';

/** The fields of a git service's hook that the server uses. */
export interface ReceivedHook {
  /** Whether the secret or the signature is correct. */
  readonly verified: boolean;
  readonly event: string;
  readonly delivery_id?: string | undefined;
  /** Pushed refs, by full name. A generic hook without a ref means the deployment's branch. */
  readonly refs: readonly {
    readonly ref?: string | undefined;
    readonly sha?: string | undefined;
    readonly deleted?: boolean | undefined;
  }[];
  readonly default_branch?: string | undefined;
  /** Why it is rejected, or why there is nothing to deploy. */
  readonly reason?: string | undefined;
}

/** Headers of a request; names in lower case. */
export type HookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies and parses a hook. The reason for a rejection depends on the request alone. Never throws on client
 * input.
 */
export type ReadHook = (kind: HookKind, headers: HookHeaders, body: Buffer, secret: string) => ReceivedHook;

/** Creates a key pair in OpenSSH format. */
export type CreateDeployKey = (comment: string) => {
  readonly private_key: string;
  readonly public_key: string;
};

/** Credentials for git. */
export type RepositoryCredentials =
  | { readonly kind: 'token'; readonly token: string; readonly username?: string | undefined }
  | {
      readonly kind: 'deploy_key';
      readonly private_key: string;
      readonly known_hosts?: string | undefined;
    };

/** Resolves a ref of a remote repository to its current commit. Throws a `RevisionError`. */
export type ResolveRef = (request: {
  readonly url: string;
  readonly ref: string;
  readonly credentials: RepositoryCredentials | undefined;
  readonly signal: AbortSignal;
}) => Promise<{
  readonly sha: string;
  /** Host keys to pin, for a repository over ssh. */
  readonly known_hosts?: string | undefined;
}>;

/**
 * The credentials for a repository. A token is sent only to the host that it was stored for: a caller who may
 * change the URL must not learn it. A deploy key is never sent.
 */
export function credentialsFor(
  url: string,
  { token, deploy_key, known_hosts }: StoredCredentials,
): RepositoryCredentials | undefined {
  if (url.startsWith('file:')) return undefined;
  if (!url.startsWith('https:')) {
    return deploy_key === undefined
      ? undefined
      : { kind: 'deploy_key', private_key: deploy_key, known_hosts };
  }
  if (token === undefined || token.host !== httpsHost(url)) return undefined;
  return { kind: 'token', token: token.token, username: token.username ?? undefined };
}

/** Host and port of an https URL; `undefined` for any other. */
export function httpsHost(url: string | null | undefined): string | undefined {
  const parsed = url ? URL.parse(url) : null;
  return parsed?.protocol === 'https:' ? parsed.host : undefined;
}
