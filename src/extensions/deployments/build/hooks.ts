import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HookKind } from '../schemas/hooks.ts';
import { defaultBranch, type PushedRef, pushedRefs } from './push-payloads.ts';

/** Request headers; names in lower case. */
export type HookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface PushHook {
  /** Whether the secret or signature is valid. Otherwise nothing else of the request was parsed. */
  readonly verified: boolean;
  /** The service's id of this delivery, which a redelivery repeats. */
  readonly delivery_id?: string | undefined;
  /** The first of `refs`, with its full name: `refs/heads/main`. */
  readonly ref?: string | undefined;
  /** The commit that it now points to; absent if the ref was deleted. */
  readonly sha?: string | undefined;
  readonly deleted?: boolean | undefined;
  /** All pushed refs: some services report several at once. */
  readonly refs: readonly PushedRef[];
  /** The default branch of the repository, `refs/heads/main`, if the service names it. */
  readonly default_branch?: string | undefined;
  /** The service's name of the event, such as `push`. */
  readonly event: string;
  /** Why the hook deploys nothing. */
  readonly reason?: string | undefined;
}

/**
 * Headers of a git service for the signature, the token, the event and the delivery id. The first one present counts.
 */
interface Service {
  readonly event: readonly string[];
  readonly delivery: readonly string[];
  /** Hexadecimal HMAC-SHA256 of the body. */
  readonly signature: readonly string[];
  /** Headers that contain the secret itself. */
  readonly token: readonly string[];
}

const SERVICES: Readonly<Record<HookKind, Service>> = {
  github: {
    event: ['x-github-event'],
    delivery: ['x-github-delivery'],
    signature: ['x-hub-signature-256'],
    token: [],
  },
  gitlab: {
    event: ['x-gitlab-event'],
    delivery: ['idempotency-key', 'x-gitlab-event-uuid'],
    signature: [],
    token: ['x-gitlab-token'],
  },
  gitea: {
    event: ['x-gitea-event', 'x-forgejo-event', 'x-gogs-event', 'x-github-event'],
    delivery: ['x-gitea-delivery', 'x-forgejo-delivery', 'x-gogs-delivery', 'x-github-delivery'],
    signature: ['x-hub-signature-256', 'x-gitea-signature', 'x-forgejo-signature', 'x-gogs-signature'],
    token: [],
  },
  bitbucket: {
    event: ['x-event-key'],
    delivery: ['x-request-uuid', 'x-request-id'],
    signature: ['x-hub-signature-256', 'x-hub-signature'],
    token: [],
  },
  generic: {
    event: ['x-event'],
    delivery: ['idempotency-key', 'x-delivery-id'],
    signature: ['x-hub-signature-256'],
    token: ['authorization', 'x-deploy-token'],
  },
};

/**
 * Parses a hook of a git service. `rawBody`: the received bytes, which the signature covers. Never throws on client
 * input.
 */
export function readHook(kind: HookKind, headers: HookHeaders, rawBody: Buffer, secret: string): PushHook {
  const service = SERVICES[kind];
  const event = first(headers, service.event) ?? 'push';
  const problem = signatureProblem(service, headers, rawBody, secret);
  if (problem) return { verified: false, event, refs: [], reason: problem };
  const known = { verified: true, event, delivery_id: first(headers, service.delivery) };
  const body = parseBody(rawBody, headers);
  if (body === undefined) return { ...known, refs: [], reason: 'The body is not a JSON object.' };
  const refs = pushedRefs(kind, event, body);
  if (typeof refs === 'string') return { ...known, refs: [], reason: refs };
  return { ...known, ...refs[0], refs, default_branch: defaultBranch(body) };
}

function first(headers: HookHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    const text = typeof value === 'string' ? value : value?.[0];
    if (text) return text;
  }
  return undefined;
}

function signatureProblem(
  { signature, token }: Service,
  headers: HookHeaders,
  rawBody: Buffer,
  secret: string,
): string | undefined {
  // Anyone can compute an HMAC with an empty key.
  if (secret === '') return 'The deployment has no hook secret: create one, and enter it at the git service.';
  const signed = first(headers, signature);
  if (signed !== undefined) {
    const digest = createHmac('sha256', secret).update(rawBody).digest('hex');
    if (isSame(signed.replace(/^sha256=/i, '').toLowerCase(), digest)) return undefined;
    return 'The signature does not match: the secret at the git service differs from that of the deployment.';
  }
  const sentToken = first(headers, token);
  if (sentToken !== undefined) {
    if (isSame(sentToken.replace(/^Bearer {1,3}/i, ''), secret)) return undefined;
    return 'The token does not match: the secret at the git service differs from that of the deployment.';
  }
  const expected = [...signature, ...token].join(' or ');
  return `The request is not signed: ${expected} is missing. Set the secret in the hook settings of the git service.`;
}

/** Compares in constant time, regardless of the lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Parses an empty body as `{}`: a generic hook needs none. GitHub may send its JSON as a form. */
function parseBody(rawBody: Buffer, headers: HookHeaders): Record<string, unknown> | undefined {
  const text = rawBody.toString('utf8');
  const isForm = first(headers, ['content-type'])?.startsWith('application/x-www-form-urlencoded');
  const json = isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
  if (json.trim() === '') return {};
  try {
    const body: unknown = JSON.parse(json);
    return typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
