import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readHook } from '../../../src/extensions/deployments/build/hooks.ts';
import type { HookKind } from '../../../src/extensions/deployments/schemas/hooks.ts';
import { naming } from '../../support/naming.ts';

const SECRET = 'secret-of-the-hook';
const SHA = 'a'.repeat(40);
const NONE = '0'.repeat(40);
const sign = (body: string, secret = SECRET) => createHmac('sha256', secret).update(body).digest('hex');

/** A request as the service makes it. */
function request(kind: HookKind, event: string | undefined, body: object, secret = SECRET) {
  const text = JSON.stringify(body);
  const headers: Record<HookKind, Record<string, string>> = {
    github: { 'x-hub-signature-256': `sha256=${sign(text, secret)}`, 'x-github-delivery': 'delivery-1' },
    gitlab: { 'x-gitlab-token': secret, 'x-gitlab-event-uuid': 'delivery-1' },
    gitea: { 'x-gitea-signature': sign(text, secret), 'x-gitea-delivery': 'delivery-1' },
    bitbucket: { 'x-hub-signature': `sha256=${sign(text, secret)}`, 'x-request-uuid': 'delivery-1' },
    generic: { authorization: `Bearer ${secret}`, 'idempotency-key': 'delivery-1' },
  };
  const names = {
    github: 'x-github-event',
    gitlab: 'x-gitlab-event',
    gitea: 'x-gitea-event',
    bitbucket: 'x-event-key',
    generic: 'x-event',
  };
  return { headers: { ...headers[kind], ...(event && { [names[kind]]: event }) }, body: Buffer.from(text) };
}

function read(kind: HookKind, event: string | undefined, body: object, secret = SECRET) {
  const { headers, body: raw } = request(kind, event, body, secret);
  return readHook(kind, headers, raw, SECRET);
}

const cloud = (change: object) => ({ push: { changes: [change] } });
const PUSHES: [HookKind, string | undefined, object][] = [
  ['github', 'push', { ref: 'refs/heads/main', after: SHA, deleted: false }],
  ['gitlab', 'Push Hook', { ref: 'refs/heads/main', after: SHA, checkout_sha: SHA }],
  ['gitea', 'push', { ref: 'refs/heads/main', after: SHA }],
  ['bitbucket', 'repo:push', cloud({ new: { type: 'branch', name: 'main', target: { hash: SHA } } })],
  [
    'bitbucket',
    'repo:refs_changed',
    { changes: [{ ref: { id: 'refs/heads/main' }, toHash: SHA, type: 'UPDATE' }] },
  ],
  ['generic', undefined, { ref: 'main', sha: SHA }],
];

describe.each(PUSHES)('%s %s', (kind, event, body) => {
  test('names branch, commit and delivery', () => {
    const hook = read(kind, event, body);
    expect(hook).toMatchObject({
      verified: true,
      delivery_id: 'delivery-1',
      ref: 'refs/heads/main',
      sha: SHA,
    });
    expect([hook.deleted, hook.reason]).toEqual([undefined, undefined]);
  });

  test('is refused with another secret, for any content', () => {
    const hook = read(kind, event, body, 'another secret');
    expect(hook).toEqual({
      verified: false,
      event: event ?? 'push',
      refs: [],
      reason: naming('secret', 'differs'),
    });
  });

  test('is refused without a secret on either side', () => {
    const { headers, body: raw } = request(kind, event, body, '');
    expect(readHook(kind, headers, raw, '')).toMatchObject({ verified: false });
    expect(readHook(kind, {}, raw, SECRET)).toMatchObject({
      verified: false,
      reason: expect.stringContaining('is missing'),
    });
  });
});

const DELETIONS: [HookKind, string, object][] = [
  ['github', 'push', { ref: 'refs/heads/old', after: NONE, deleted: true }],
  ['github', 'delete', { ref: 'old', ref_type: 'branch' }],
  ['gitlab', 'Push Hook', { ref: 'refs/heads/old', after: NONE }],
  ['gitea', 'delete', { ref: 'old', ref_type: 'branch' }],
  [
    'bitbucket',
    'repo:push',
    cloud({ old: { type: 'branch', name: 'old', target: { hash: SHA } }, new: null }),
  ],
  [
    'bitbucket',
    'repo:refs_changed',
    { changes: [{ ref: { id: 'refs/heads/old' }, toHash: NONE, type: 'DELETE' }] },
  ],
];

test.each(DELETIONS)('%s %s reports a deleted branch', (kind, event, body) => {
  const { ref, sha, deleted } = read(kind, event, body);
  expect({ ref, sha, deleted }).toEqual({ ref: 'refs/heads/old', sha: undefined, deleted: true });
});

const TAGS: [HookKind, string, object][] = [
  ['github', 'push', { ref: 'refs/tags/v1', after: SHA }],
  ['gitlab', 'Tag Push Hook', { ref: 'refs/tags/v1', after: SHA }],
  ['bitbucket', 'repo:push', cloud({ new: { type: 'tag', name: 'v1', target: { hash: SHA } } })],
];

test.each(TAGS)('%s %s reports a pushed tag', (kind, event, body) => {
  expect(read(kind, event, body)).toMatchObject({ ref: 'refs/tags/v1', sha: SHA });
});

test.each([
  ['github', 'ping', {}, 'sent a test delivery'],
  ['github', 'pull_request', {}, 'pull_request is not a push'],
  ['gitlab', 'Merge Request Hook', {}, 'not a push'],
  ['bitbucket', 'diagnostics:ping', {}, 'sent a test delivery'],
  ['bitbucket', 'repo:push', { push: { changes: [] } }, 'The push changed no branch or tag'],
  ['github', 'push', { ref: 7 }, 'The push changed no branch or tag'],
  ['bitbucket', 'repo:push', { push: { changes: 'x' } }, 'The push changed no branch or tag'],
] as const)('%s %s is reported as no push', (kind, event, body, reason) => {
  expect(read(kind, event, body)).toMatchObject({
    verified: true,
    refs: [],
    reason: expect.stringContaining(reason),
  });
});

test('a push of several branches lists all of them', () => {
  const change = (name: string) => ({ new: { type: 'branch', name, target: { hash: SHA } } });
  const { refs } = read('bitbucket', 'repo:push', { push: { changes: [change('a'), change('b')] } });
  expect(refs.map(({ ref }) => ref)).toEqual(['refs/heads/a', 'refs/heads/b']);
});

test('a generic hook needs no body', () => {
  const hook = readHook('generic', { 'x-deploy-token': SECRET }, Buffer.alloc(0), SECRET);
  expect(hook).toMatchObject({ verified: true, refs: [{}] });
  expect(hook.reason).toBeUndefined();
});

test('the signature of a hook covers the bytes of its body, even of a form', () => {
  const form = `payload=${encodeURIComponent(JSON.stringify({ ref: 'refs/heads/main', after: SHA }))}`;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${sign(form)}`,
  };
  expect(readHook('github', headers, Buffer.from(form), SECRET)).toMatchObject({ ref: 'refs/heads/main' });
  expect(readHook('github', headers, Buffer.from(`${form} `), SECRET).verified).toBe(false);
  const broken = Buffer.from('{"ref":');
  const signed = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${sign(broken.toString())}` };
  expect(readHook('github', signed, broken, SECRET)).toMatchObject({
    verified: true,
    reason: naming('JSON object'),
  });
});
