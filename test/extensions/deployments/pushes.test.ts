import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../../src/auth/actor.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { systemIds } from '../../../src/core/ids.ts';
import { silentLogger } from '../../../src/core/logger.ts';
import type { Db } from '../../../src/db/db.ts';
import type {
  DeploymentPatch,
  RevisionStatus,
} from '../../../src/extensions/deployments/schemas/deployments.ts';
import { deploymentService } from '../../../src/extensions/deployments/services/control-plane.ts';
import { pollDecision, pushDecision } from '../../../src/extensions/deployments/services/pushes.ts';
import type { ReceivedHook } from '../../../src/extensions/deployments/services/repository.ts';
import { MASKED } from '../../../src/extensions/deployments/services/secrets.ts';
import { deploymentRepository } from '../../../src/extensions/deployments/storage/deployment-repository.ts';
import { pushRepository } from '../../../src/extensions/deployments/storage/pushes.ts';
import { repositoryAccessRepository } from '../../../src/extensions/deployments/storage/repositories.ts';
import { revisionRepository } from '../../../src/extensions/deployments/storage/revisions.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { OTHER_SHA, SHA } from '../../support/git-hooks.ts';
import { partsOf } from '../../support/parts-of.ts';

const ids = systemIds(systemClock);
const url = 'https://example.com/a.git';
const branch = 'refs/heads/main';

/** A deployment that builds on push, without a revision yet. */
async function followed(db: Db) {
  const deployments = deploymentRepository(db);
  const revisions = revisionRepository(db);
  await revisions.takeOver(ids.uuid4(), 3, { step: 'build', code: 'server_ended', hint: '' });
  const pushes = pushRepository(db);
  const deployment_id = randomUUID();
  await deployments.insert(
    {
      deployment_id,
      name: 'followed',
      source: 'github',
      source_config: { repo_url: url, build_on_push: true },
      source_revision_config: { repo_ref: 'main' },
    },
    [],
    undefined,
  );
  const push = (sha: string, delivery_id: string | null = null) => {
    const hook: ReceivedHook = { verified: true, event: 'push', refs: [{ ref: branch, sha }] };
    const row = {
      hook_id: ids.uuid7(),
      kind: 'github',
      delivery_id,
      event: 'push',
      ref: branch,
      sha,
    } as const;
    return pushes.receive(deployment_id, row, (state) => pushDecision(state, hook, ids));
  };
  const poll = (sha: string) =>
    pushes.poll(deployment_id, sha, (state) => pollDecision(state, { url, branch }, ids));
  const listed = () => revisions.list(deployment_id, { limit: 100, offset: 0 });
  /** Builds the queued revision from a commit, as far as storage notices it. */
  const build = async (sha: string, status: RevisionStatus = 'DEPLOYED') => {
    const { revision_id = '' } = (await revisions.claim()) ?? {};
    await revisions.transition(revision_id, ['AWAITING_BUILD'], 'BUILDING');
    const outcome = await revisions.recordCommit(revision_id, sha);
    if (outcome === 'recorded') await revisions.transition(revision_id, ['BUILDING'], status);
    return outcome;
  };
  const service = deploymentService({
    ...{ deployments, revisions, ids, logger: silentLogger, allow_local_sources: false },
    ...{ files: partsOf({}), plane: partsOf({}), bus: partsOf({ emit: () => {} }), pathOf: (name) => name },
  });
  const update = (patch: DeploymentPatch) => service.update(systemActor('test'), deployment_id, patch, '');
  return { deployments, revisions, pushes, deployment_id, push, poll, build, listed, update };
}

describeEachStorage('changes of a deployment at once', (open) => {
  test('do not overwrite each other', async () => {
    await using db = await open();
    const { deployments, deployment_id, update } = await followed(db);
    const key = (value: string) => [{ name: 'KEY', value }];
    await update({ secrets: key('old') });
    await Promise.all([
      update({ source_config: { build_on_push: false }, secrets: key('rotated') }),
      update({ source_config: { deployment_type: 'dev' }, source_revision_config: { repo_ref: 'next' } }),
      update({ secrets: key(MASKED) }),
    ]);
    expect(await deployments.find(deployment_id)).toMatchObject({
      source_config: { repo_url: url, build_on_push: false, deployment_type: 'dev' },
      source_revision_config: { repo_ref: 'next' },
    });
    expect(await deployments.secrets(deployment_id)).toEqual(key('rotated'));
  });

  test('queue all their revisions, and skip all but the last', async () => {
    await using db = await open();
    const { revisions, deployment_id, listed } = await followed(db);
    const revision = () => ({
      revision_id: ids.uuid7(),
      source: 'github' as const,
      source_revision_config: { repo_ref: 'main' },
      trigger: 'api' as const,
    });
    await Promise.all(Array.from({ length: 8 }, () => revisions.insert(deployment_id, revision())));
    const found = await listed();
    expect(found.map(({ number }) => number)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(found.filter(({ status }) => status === 'QUEUED')).toHaveLength(1);
  });
});

describeEachStorage('pushes', (open) => {
  test('of one delivery that arrive at once queue one revision', async () => {
    await using db = await open();
    const { push, listed } = await followed(db);
    const answers = await Promise.all(Array.from({ length: 8 }, () => push(SHA, 'one')));
    expect(answers.filter((answer) => answer?.is_new)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer?.hook.revision_id)).size).toBe(1);
    expect(await listed()).toHaveLength(1);
  });

  test('and polls of one commit at once queue one revision', async () => {
    await using db = await open();
    const { push, poll, listed } = await followed(db);
    const [polled, pushed] = await Promise.all([poll(SHA), push(SHA, 'one'), poll(SHA), push(SHA, 'two')]);
    const [revision] = await listed();
    expect(await listed()).toHaveLength(1);
    expect([polled ?? pushed?.hook.revision_id, pushed?.hook.revision_id]).toEqual([
      revision?.revision_id,
      revision?.revision_id,
    ]);
  });

  test('while their deployment is deleted leave nothing behind', async () => {
    await using db = await open();
    const { deployments, deployment_id, pushes, push, poll, listed } = await followed(db);
    const [deleted, ...answers] = await Promise.all([
      deployments.delete(deployment_id),
      push(SHA, 'one'),
      poll(OTHER_SHA),
      pushes.pollFailed(deployment_id, { step: 'source', code: 'x', hint: 'x' }),
    ]);
    expect(deleted).toBe(true);
    expect(answers).toHaveLength(3);
    expect(await push(SHA, 'one')).toBeUndefined();
    expect([await listed(), await pushes.listHooks(deployment_id, { limit: 10, offset: 0 })]).toEqual([
      [],
      [],
    ]);
  });

  test('of a failed commit build it again, but polls do not', async () => {
    await using db = await open();
    const { push, poll, build, listed } = await followed(db);
    await push(SHA);
    await build(SHA, 'BUILD_FAILED');
    expect(await poll(SHA)).toBeUndefined();
    expect((await push(SHA))?.hook.outcome).toBe('queued');
    expect(await build(SHA)).toBe('recorded');
    expect(await poll(SHA)).toBeUndefined();
    expect(await listed()).toHaveLength(2);
  });

  test('found by a poll before a rollback are not deployed again', async () => {
    await using db = await open();
    const { revisions, deployment_id, poll, push, build } = await followed(db);
    await push(SHA);
    await build(SHA);
    await push(OTHER_SHA);
    await build(OTHER_SHA);
    const source_revision_config = { repo_ref: 'main', repo_commit_sha: SHA };
    const rollback = { revision_id: ids.uuid7(), source: 'github', source_revision_config } as const;
    await revisions.insert(deployment_id, { ...rollback, trigger: 'manual' });
    expect(await poll(OTHER_SHA)).toBeUndefined();
    await build(SHA);
    expect((await push(OTHER_SHA))?.hook.outcome).toBe('queued');
    expect(await build(OTHER_SHA)).toBe('skipped');
  });

  test('that a branch went back to an older commit build that commit', async () => {
    await using db = await open();
    const { push, build } = await followed(db);
    for (const sha of [SHA, OTHER_SHA, SHA]) {
      await push(sha);
      expect(await build(sha)).toBe('recorded');
    }
  });

  test('of an older commit that arrive late or again never build that commit', async () => {
    await using db = await open();
    const { push, poll, build, listed } = await followed(db);
    await push(OTHER_SHA);
    await build(OTHER_SHA);
    for (const late of [() => push(SHA), () => push(SHA), () => poll(SHA)]) {
      await late();
      const [newest] = await listed();
      expect(newest?.source_revision_config).toEqual({ repo_ref: 'main' });
      expect(await build(OTHER_SHA)).toBe('skipped');
    }
  });

  test('and polls wait for a revision whose commit is unknown, and are forgotten for branches that are no longer followed', async () => {
    await using db = await open();
    const { deployments, revisions, deployment_id, poll } = await followed(db);
    const follow = (repo_ref: string) =>
      deployments.update(deployment_id, (row) => ({ ...row, source_revision_config: { repo_ref } }));
    const source_revision_config = { repo_ref: 'main' };
    const revision = { revision_id: ids.uuid7(), source: 'github', source_revision_config } as const;
    await revisions.insert(deployment_id, { ...revision, trigger: 'api' });
    expect(await poll(SHA)).toBeUndefined();
    await revisions.transition(revision.revision_id, ['QUEUED'], 'INTERRUPTED');
    await follow('dev');
    expect(await poll(SHA)).toBeUndefined();
    await follow(branch);
    expect(await poll(SHA)).toEqual(expect.any(String));
  });
});

describeEachStorage('the access to a repository', (open) => {
  test('stores and deletes secrets, and never shows them', async () => {
    await using db = await open();
    const { deployment_id } = await followed(db);
    const access = repositoryAccessRepository(db);
    expect(await access.credentials(deployment_id)).toEqual({});
    await access.setHookSecret(deployment_id, 'hook');
    await access.setDeployKey(deployment_id, { private_key: 'private', public_key: 'public' });
    await access.setToken(deployment_id, { token: 'token', username: null, host: 'example.com' });
    expect(await access.hookSecret(deployment_id)).toBe('hook');
    expect(await access.credentials(deployment_id)).toEqual({
      deploy_key: 'private',
      token: { token: 'token', username: null, host: 'example.com' },
    });
    const found = await access.find(deployment_id);
    expect(found).toMatchObject({ public_key: 'public', token_host: 'example.com' });
    expect(Object.keys(found ?? {})).not.toContain('token');
    expect(Object.values(found ?? {})).not.toContain('private');
    await access.deleteToken(deployment_id);
    await access.deleteDeployKey(deployment_id);
    expect(await access.credentials(deployment_id)).toEqual({});
    expect(await access.setHookSecret(randomUUID(), 'of nobody')).toBeUndefined();
  });

  test('pins the host keys of the first of two connections', async () => {
    await using db = await open();
    const { deployment_id } = await followed(db);
    const access = repositoryAccessRepository(db);
    await Promise.all(['a', 'b'].map((hosts) => access.pinHosts(deployment_id, undefined, hosts)));
    const { known_hosts } = await access.credentials(deployment_id);
    expect(['a', 'b']).toContain(known_hosts);
    await access.pinHosts(deployment_id, undefined, 'c');
    expect(await access.credentials(deployment_id)).toEqual({ known_hosts });
    await access.pinHosts(deployment_id, known_hosts, 'c');
    expect(await access.credentials(deployment_id)).toEqual({ known_hosts: 'c' });
    await access.unpinHosts(deployment_id);
    expect(await access.credentials(deployment_id)).toEqual({});
  });
});
