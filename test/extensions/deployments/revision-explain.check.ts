import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { RevisionExplanation } from '../../../src/extensions/deployments/schemas/revision-explanation.ts';
import { type BuildRevision, RevisionError } from '../../../src/extensions/deployments/services/builder.ts';
import { KEY, openDeploymentServer, projectThat, unpack } from '../../support/deployments.ts';
import { naming } from '../../support/naming.ts';
import { agentServer } from '../../support/program.ts';

/** A server whose builds wait until they are told how to end. */
async function gatedServer() {
  const gates: ((failure?: RevisionError) => void)[] = [];
  const build: BuildRevision = async (request) => {
    request.onStep('install');
    const { promise, resolve } = Promise.withResolvers<RevisionError | undefined>();
    request.signal.addEventListener('abort', () => resolve(new RevisionError('install', 'ended', 'Ended.')));
    gates.push(resolve);
    const failure = await promise;
    if (failure) throw failure;
    return unpack(request);
  };
  const server = await openDeploymentServer({ build });
  return {
    server,
    explain: async (id: string): Promise<RevisionExplanation> =>
      (await server.get(`/v2/revisions/${id}/explain`)).body,
    /** Ends the build that is under way, once it is. */
    async end(failure?: RevisionError): Promise<void> {
      await expect.poll(() => gates.length).toBeGreaterThan(0);
      gates.shift()?.(failure);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test('a revision that waits, is built, or failed is explained', async () => {
  await using gated = await gatedServer();
  const { server, explain, end } = gated;
  const [one, other] = [await server.create('shop'), await server.create('other')];
  const built = await server.push(one.id, projectThat('works'));
  const waiting = await server.push(other.id, projectThat('waits'));
  await expect
    .poll(async () => (await explain(built.id)).summary)
    .toMatch(/“install” since \S+\. No revision serves /);
  expect(await explain(waiting.id)).toMatchObject({
    deployment: 'other',
    status: 'QUEUED',
    behind: 1,
    step: null,
    summary: naming('behind 1 other revision', 'No revision serves'),
    next_action: { text: expect.stringContaining('The revision is queued') },
  });

  const newer = await server.push(other.id, projectThat('is newer'));
  expect((await explain(waiting.id)).summary).toMatch(/^Skipped: a newer revision/);
  expect((await explain(waiting.id)).next_action).toBeNull();
  await end(new RevisionError('install', 'no_luck', 'The packages are gone.'));
  await server.ended(one.id, built.id);
  const failed = await explain(built.id);
  expect(failed).toMatchObject({
    status: 'BUILD_FAILED',
    summary: naming('“install”: The packages are gone.', 'No revision serves'),
    failure: { code: 'no_luck' },
    next_action: { text: expect.stringContaining('deploy again'), command: expect.any(String) },
  });
  await server.post(`/v2/deployments/${other.id}/revisions/${newer.id}/interrupt`);
  expect((await explain(newer.id)).summary).toMatch(
    /^Ended at \S+ with status INTERRUPTED\. No revision serves/,
  );

  const nested = await server.get(`/v2/deployments/${one.id}/revisions/${built.id}/explain`);
  expect(nested.body).toEqual(failed);
  for (const path of [
    `/v2/deployments/${other.id}/revisions/${built.id}/explain`,
    `/v2/revisions/${randomUUID()}/explain`,
  ]) {
    expect([path, (await server.get(path)).status]).toEqual([path, 404]);
  }
  const printed = await agentServer(['explain', built.id, '--url', server.url, '--key', KEY]);
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toMatch(
    new RegExp(`^revision ${built.id}: BUILD_FAILED\nFailed at step “install”: The packages are gone\\.`),
  );
});

test('a serving revision and its predecessor are explained', async () => {
  await using gated = await gatedServer();
  const { server, explain, end } = gated;
  const { id } = await server.create('shop');
  const deploy = async (name: string) => {
    const revision = await server.push(id, projectThat(name));
    await end();
    return server.ended(id, revision.id);
  };
  const first = await deploy('one');
  expect(await explain(first.id)).toMatchObject({
    status: 'DEPLOYED',
    summary: expect.stringMatching(/^Serves new requests since \S+\.$/),
    is_active: true,
    activity: { state: 'serving', runs: 0 },
    check: { ok: true, reason: null },
    next_action: { text: expect.stringContaining('Call it') },
  });
  await deploy('two');
  await expect
    .poll(() => explain(first.id))
    .toMatchObject({
      summary: naming('replaced', 'Revision 2 serves'),
      is_active: false,
      activity: null,
      check: null,
      next_action: null,
    });
});
