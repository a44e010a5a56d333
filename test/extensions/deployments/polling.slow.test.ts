import { rename } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Revision } from '../../../src/extensions/deployments/schemas/deployments.ts';
import { RevisionError } from '../../../src/extensions/deployments/services/builder.ts';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { hookOf, sendHook } from '../../support/git-hooks.ts';
import { headOf, repository } from '../../support/repository.ts';
import { until } from '../../support/until.ts';

/** A server that asks repositories every second. Builds of their first commits fail, those of later ones last. */
async function polling() {
  const firsts = new Map<string, string>();
  const server = await openDeploymentServer({
    deployments: { allow_local_sources: true, poll_seconds: 1 },
    async build({ source, signal, onCommit }) {
      const url = source.kind === 'git' ? source.url : '';
      const head = headOf(url);
      await onCommit(head);
      if (firsts.get(url) === undefined) firsts.set(url, head);
      if (firsts.get(url) === head) throw new RevisionError('config', 'first', 'It is the first one.');
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    },
  });
  const revisions = async (id: string): Promise<Revision[]> =>
    (await server.get(`/v2/deployments/${id}/revisions?limit=100`)).body.resources;
  const poll = async (id: string) => (await server.get(`/v2/deployments/${id}/hooks`)).body.poll;
  const create = async (name: string, repo_url: string, build_on_push = true) =>
    (
      await server.create(name, {
        source: 'github',
        source_config: { repo_url, build_on_push },
        source_revision_config: { repo_ref: 'main' },
      })
    ).id;
  return { server, revisions, poll, create, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const commitOf = ({ source_revision_config }: Revision) => source_revision_config.repo_commit_sha;

test('a new commit of the branch is deployed once, whether a hook or polling reports it first', async () => {
  await using polled = await polling();
  const { server, revisions, poll, create } = polled;
  await using sources = await repository(projectThat('first'));
  const id = await create('polled', sources.url);
  const quiet = await create('quiet', sources.url, false);
  const ofCommit = async (sha: string) => (await revisions(id)).filter((each) => commitOf(each) === sha);
  await until('the first commit was found', async () => (await poll(id)).commit_sha === sources.first);
  expect(await poll(id)).toMatchObject({ every_seconds: 1, failure: null });

  const second = await sources.commit({ 'new.txt': 'second' }, 'second');
  await until('it is queued', async () => (await ofCommit(second)).length > 0);
  const [queued] = await ofCommit(second);
  expect(queued).toMatchObject({ trigger: 'poll' });
  await server.post(`/v2/deployments/${id}/revisions/${queued?.id}/interrupt`);
  const { secret, urls } = (await server.post(`/v2/deployments/${id}/hook-secret`)).body;
  const tell = async (sha: string) => (await sendHook(urls.github, hookOf('github', secret, { sha }))).body;

  const third = await sources.commit({ 'new.txt': 'third' }, 'third');
  const [{ outcome }] = await Promise.all([
    tell(third),
    until('it was found', async () => (await poll(id)).commit_sha === third),
  ]);
  expect(['queued', 'known']).toContain(outcome);
  const before = (await poll(id)).polled_at;
  await until('it was asked again', async () => (await poll(id)).polled_at > before);
  expect(await ofCommit(third)).toHaveLength(1);
  expect(await ofCommit(second)).toHaveLength(1);
  expect(await revisions(quiet)).toHaveLength(1);
  expect((await poll(quiet)).polled_at).toBeNull();
});

test('polling reports a missing repository, continues with others, and finds it again', async () => {
  await using polled = await polling();
  const { server, revisions, poll, create } = polled;
  await using gone = await repository(projectThat('gone'));
  await using other = await repository(projectThat('other'));
  const id = await create('gone', gone.url);
  await until('it was asked', async () => (await poll(id)).commit_sha === gone.first);
  const path = fileURLToPath(gone.url);
  await rename(path, `${path}-moved`);
  await until('it is noted', async () => (await poll(id)).failure !== null);
  expect((await poll(id)).failure).toMatchObject({ step: 'source', hint: expect.any(String) });
  const second = await create('other', other.url);
  await until('the other one was asked', async () => (await poll(second)).commit_sha === other.first);
  await rename(`${path}-moved`, path);
  await until('it was asked again', async () => (await poll(id)).failure === null);
  expect(await revisions(id)).toHaveLength(1);
  const warnings = server.log.filter(({ message }) => message.includes('cannot poll a repository'));
  expect(warnings).toHaveLength(1);
});
