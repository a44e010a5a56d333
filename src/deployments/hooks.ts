import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HookKind } from '../schemas/deployment-hooks.ts';
import { defaultBranch, type PushedRef, pushedRefs } from './push-payloads.ts';

/** Headers of a request; names in lower case. */
export type HookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface PushHook {
  /** Whether the secret or the signature is right. Nothing else of the request is read unless it is. */
  readonly verified: boolean;
  /** What the service calls this delivery: the same when it is sent again. */
  readonly delivery_id?: string | undefined;
  /** The first of `refs`, in full: `refs/heads/main`. */
  readonly ref?: string | undefined;
  /** The commit that it stands for now; absent if it was deleted. */
  readonly sha?: string | undefined;
  readonly deleted?: boolean | undefined;
  /** All that were pushed: one service reports several at once. */
  readonly refs: readonly PushedRef[];
  /** The default branch of the repository, `refs/heads/main`, if the service says. */
  readonly default_branch?: string | undefined;
  /** What the service calls the event, such as `push`. */
  readonly event: string;
  /** Why there is nothing to deploy. */
  readonly reason?: string | undefined;
}

/** Headers of a service: what it signs or tells, how it names the event and the delivery. The first that is there counts. */
interface Service {
  readonly event: readonly string[];
  readonly delivery: readonly string[];
  /** Hexadecimal HMAC-SHA256 of the body. */
  readonly signature: readonly string[];
  /** The secret itself. */
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
 * Reads a hook of a git service. `rawBody` is the body as it was received: signatures are over its bytes. Never throws on
 * what a client sends.
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
  // An HMAC with an empty key is one that anybody can compute.
  if (secret === '') return 'The hook has no secret: set one in the deployment.';
  const signed = first(headers, signature);
  if (signed !== undefined) {
    const digest = createHmac('sha256', secret).update(rawBody).digest('hex');
    if (isSame(signed.replace(/^sha256=/i, '').toLowerCase(), digest)) return undefined;
    return 'The signature does not fit: the service has another secret than the deployment.';
  }
  const sentToken = first(headers, token);
  if (sentToken !== undefined) {
    if (isSame(sentToken.replace(/^Bearer {1,3}/i, ''), secret)) return undefined;
    return 'The token is wrong: the service has another secret than the deployment.';
  }
  const expected = [...signature, ...token].join(' or ');
  return `The request is not signed: ${expected} is missing. Set the secret of the hook in the service.`;
}

/** In constant time, whatever the lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** An empty body is an empty object: a generic hook needs none. GitHub may send its JSON as a form. */
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
