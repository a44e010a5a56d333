import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOOK_KINDS, type HookKind } from '../../../src/extensions/deployments/schemas/hooks.ts';
import { openDeploymentServer } from '../../support/deployments.ts';
import { hookOf, OTHER_SHA, type Push, SHA, sendHook } from '../../support/git-hooks.ts';
import { naming } from '../../support/naming.ts';

describe('hooks of git services', () => {
  let server: Awaited<ReturnType<typeof openDeploymentServer>>;
  let made = 0;
  beforeAll(async () => {
    server = await openDeploymentServer({
      // Nothing in these tests is built to its end.
      build: ({ signal, onStep }) => {
        onStep('source');
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        );
      },
    });
    // One revision is built at a time: those of the tests wait behind this one.
    await server.create('built-first', {
      source: 'github',
      source_config: { repo_url: 'https://example.com/a.git' },
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** A deployment from a repository, with a secret for its hooks. */
  async function followed(more: { source_config?: object; source_revision_config?: object } = {}) {
    made += 1;
    const created = await server.create(`followed-${made}`, {
      source: 'github',
      source_config: { repo_url: 'https://example.com/a.git', build_on_push: true, ...more.source_config },
      source_revision_config: { repo_ref: 'main', ...more.source_revision_config },
    });
    const { id, latest_revision_id } = created;
    await server.post(`/v2/deployments/${id}/revisions/${latest_revision_id}/interrupt`);
    const secret = (await server.post(`/v2/deployments/${id}/hook-secret`)).body;
    const send = (kind: HookKind, push: Push = {}, key = secret.secret) =>
      sendHook(secret.urls[kind], hookOf(kind, key, push));
    const revisions = async () =>
      (await server.get(`/v2/deployments/${id}/revisions?limit=100`)).body.resources;
    const hooks = async (query = '') => (await server.get(`/v2/deployments/${id}/hooks${query}`)).body;
    return { id, secret, send, revisions, hooks };
  }

  test.each(HOOK_KINDS)('a push that %s reports queues a revision of the branch', async (kind) => {
    const { id, send, revisions, hooks } = await followed();
    const answer = await send(kind, { delivery: 'one' });
    const [newest] = await revisions();
    expect(newest).toMatchObject({
      number: 2,
      trigger: 'push',
      source_revision_config: { repo_ref: 'main' },
    });
    expect(newest.source_revision_config).not.toHaveProperty('repo_commit_sha');
    const expected = {
      kind,
      delivery_id: 'one',
      ref: 'refs/heads/main',
      commit_sha: SHA,
      outcome: 'queued',
      reason: null,
      revision_id: newest.id,
    };
    expect(answer).toMatchObject({ status: 202, body: expected });
    expect((await hooks()).resources).toEqual([answer.body]);
    // The next revision of the deployment is of what its branch has then.
    expect((await server.get(`/v2/deployments/${id}`)).body.source_revision_config).toEqual({
      repo_ref: 'main',
    });
  });

  test('get the response of the first delivery when it is repeated, even concurrently', async () => {
    const { send, revisions, hooks } = await followed();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send('github', { delivery: 'the same' })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 202, body: { outcome: 'queued' } });
    await send('github', { sha: OTHER_SHA, delivery: 'another' });
    expect((await send('github', { delivery: 'the same' })).text).toBe(answers[0]?.text);
    expect(await revisions()).toHaveLength(2);
    expect((await hooks()).resources).toHaveLength(2);
  });

  test('a push queues no revision while another one waits for what the branch will point to', async () => {
    const { send, revisions } = await followed();
    const { body } = await send('gitea');
    const again = await send('gitlab', { sha: OTHER_SHA, delivery: 'of another hook' });
    expect(again.body).toMatchObject({ outcome: 'known', revision_id: body.revision_id });
    expect(await revisions()).toHaveLength(2);
  });

  test('report the reason for a push that is not deployed, in the response and in the list', async () => {
    const { send, revisions, hooks } = await followed();
    const ignored = async (push: Push, kind: HookKind = 'github') => {
      const { status, body } = await send(kind, push);
      expect([status, body.outcome, body.revision_id]).toEqual([202, 'ignored', null]);
      return body.reason;
    };
    expect(await ignored({ ref: 'refs/heads/dev' })).toEqual(naming('refs/heads/dev', 'refs/heads/main'));
    expect(await ignored({ ref: 'refs/tags/v1' })).toContain('refs/tags/v1 is a tag');
    expect(await ignored({ deleted: true })).toEqual(naming('refs/heads/main', 'deleted'));
    expect(await ignored({ deleted: true }, 'bitbucket')).toEqual(naming('refs/heads/main', 'deleted'));
    expect(await ignored({ event: 'ping' })).toEqual(naming('test delivery'));
    expect(await revisions()).toHaveLength(1);
    expect((await hooks()).resources).toHaveLength(5);
    expect((await hooks('?limit=2&offset=1')).resources).toHaveLength(2);
  });

  test('show the branch that a deployment follows, or why it follows none', async () => {
    const state = async (more: Parameters<typeof followed>[0]) => {
      const { send, hooks } = await followed(more);
      const { branch, paused_because, poll } = await hooks();
      expect(poll).toBeNull();
      return { branch, paused_because, came: (await send('github', { default_branch: 'trunk' })).body };
    };
    expect(await state({ source_config: { build_on_push: false } })).toMatchObject({
      branch: null,
      paused_because: expect.stringContaining('build_on_push'),
      came: { outcome: 'ignored', reason: expect.stringContaining('build_on_push') },
    });
    const tag = await state({ source_revision_config: { repo_ref: 'refs/tags/v1' } });
    expect(tag).toMatchObject({
      branch: null,
      came: { reason: naming('not a branch') },
    });
    expect(await state({ source_revision_config: { repo_ref: null } })).toMatchObject({
      branch: 'HEAD',
      paused_because: null,
      came: { reason: naming('refs/heads/main', 'refs/heads/trunk') },
    });
  });

  test('deploy the default branch if the deployment names none', async () => {
    const { send } = await followed({ source_revision_config: { repo_ref: null } });
    const queued = await send('gitlab', { ref: 'refs/heads/trunk', default_branch: 'trunk' });
    expect(queued.body.outcome).toBe('queued');
    expect((await send('bitbucket')).body.reason).toContain('source_revision_config.repo_ref');
  });

  test('build the branch for a generic hook without a body', async () => {
    const { secret, revisions } = await followed();
    const response = await fetch(secret.urls.generic, {
      method: 'POST',
      headers: { 'x-deploy-token': secret.secret },
    });
    expect([response.status, await response.json()]).toMatchObject([202, { outcome: 'queued' }]);
    expect((await revisions())[0].source_revision_config).toEqual({ repo_ref: 'main' });
  });

  test('are listed up to the last 100', async () => {
    const { send, hooks } = await followed();
    for (let at = 0; at < 105; at++) await send('github', { ref: 'refs/heads/dev', delivery: `${at}` });
    const { resources } = await hooks('?limit=100');
    expect(resources).toHaveLength(100);
    expect(resources[0].delivery_id).toBe('104');
    expect((await hooks('?offset=100')).resources).toEqual([]);
  });
});
