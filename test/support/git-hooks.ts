import { createHmac } from 'node:crypto';
import type { HookKind } from '../../src/extensions/deployments/schemas/hooks.ts';

export const SHA = 'a'.repeat(40);
export const OTHER_SHA = 'b'.repeat(40);

export interface Push {
  readonly ref?: string;
  readonly sha?: string;
  readonly deleted?: boolean;
  readonly delivery?: string | undefined;
  readonly event?: string;
  readonly default_branch?: string;
}

/** A push as a service reports it: signed with the secret, or with it in a header. */
export function hookOf(kind: HookKind, secret: string, push: Push = {}) {
  const { ref = 'refs/heads/main', sha = SHA, deleted = false, delivery } = push;
  const after = deleted ? '0'.repeat(40) : sha;
  const repository = push.default_branch === undefined ? {} : { default_branch: push.default_branch };
  const bodies: Record<HookKind, object> = {
    github: { ref, after, deleted, repository },
    gitlab: { ref, after, project: repository },
    gitea: { ref, after, repository },
    bitbucket: {
      push: {
        changes: [
          deleted
            ? { old: { type: 'branch', name: ref.slice(11) }, new: null }
            : { new: { type: 'branch', name: ref.slice(11), target: { hash: after } } },
        ],
      },
    },
    generic: { ref, sha: after },
  };
  const body = JSON.stringify(bodies[kind]);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const id = (name: string) => (delivery === undefined ? {} : { [name]: delivery });
  const headers: Record<HookKind, Record<string, string>> = {
    github: {
      'x-github-event': push.event ?? 'push',
      'x-hub-signature-256': `sha256=${signature}`,
      ...id('x-github-delivery'),
    },
    gitlab: { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': secret, ...id('x-gitlab-event-uuid') },
    gitea: { 'x-gitea-event': 'push', 'x-gitea-signature': signature, ...id('x-gitea-delivery') },
    bitbucket: {
      'x-event-key': 'repo:push',
      'x-hub-signature': `sha256=${signature}`,
      ...id('x-request-uuid'),
    },
    generic: { authorization: `Bearer ${secret}`, ...id('idempotency-key') },
  };
  return { body, headers: { 'content-type': 'application/json', ...headers[kind] } };
}

/** Sends it without a key. */
export async function sendHook(url: string, { body, headers }: ReturnType<typeof hookOf>) {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) };
}
