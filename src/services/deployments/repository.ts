import type { HookKind } from '../../schemas/deployment-hooks.ts';
import type { StoredCredentials } from '../../storage/deployments/repositories.ts';

/** A hook of a git service, as far as it matters here. */
export interface ReceivedHook {
  /** Whether the secret or the signature is right. */
  readonly verified: boolean;
  readonly event: string;
  readonly delivery_id?: string | undefined;
  /** What was pushed; refs in full. A generic hook without a ref means the branch of the deployment. */
  readonly refs: readonly {
    readonly ref?: string | undefined;
    readonly sha?: string | undefined;
    readonly deleted?: boolean | undefined;
  }[];
  readonly default_branch?: string | undefined;
  /** Why it is refused, or why there is nothing to deploy. */
  readonly reason?: string | undefined;
}

/** Headers of a request; names in lower case. */
export type HookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Verifies and reads a hook. Its reason to refuse one depends on the request alone. Never throws on what a client sends. */
export type ReadHook = (kind: HookKind, headers: HookHeaders, body: Buffer, secret: string) => ReceivedHook;

/** Makes a key pair of OpenSSH. */
export type CreateDeployKey = (comment: string) => {
  readonly private_key: string;
  readonly public_key: string;
};

/** What git signs in with. */
export type RepositoryCredentials =
  | { readonly kind: 'token'; readonly token: string; readonly username?: string | undefined }
  | {
      readonly kind: 'deploy_key';
      readonly private_key: string;
      readonly known_hosts?: string | undefined;
    };

/** Asks a repository which commit a ref stands for now. Throws a `RevisionError`. */
export type ResolveRef = (request: {
  readonly url: string;
  readonly ref: string;
  readonly credentials: RepositoryCredentials | undefined;
  readonly signal: AbortSignal;
}) => Promise<{
  readonly sha: string;
  /** Host keys to pin: of a repository over ssh. */
  readonly known_hosts?: string | undefined;
}>;

/**
 * The credentials for a repository. A token is given to the host that it was stored for, and to no other: who may change
 * the URL must not learn it. A deploy key proves itself without being sent.
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
