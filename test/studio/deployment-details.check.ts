import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { BuildRevision } from '../../src/extensions/deployments/services/builder.ts';
import { KEY } from '../support/deployments.ts';
import { gatedProject } from '../support/gated-project.ts';
import { hookOf, OTHER_SHA, SHA, sendHook } from '../support/git-hooks.ts';
import { PACKAGES } from '../support/project.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useDeploymentStudio } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const TOKEN = 'a-token-that-no-page-shows';
const HOST_KEY =
  'git.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';

/** Instead of git: a repository has the same project at each commit; one over ssh has a host key. */
const build: BuildRevision = async ({ folder, source, onStep, onHostKeys }) => {
  onStep('fetch');
  if (source.kind === 'git' && source.url.startsWith('git@')) await onHostKeys(`${HOST_KEY}\n`);
  const root = join(folder, 'source');
  await mkdir(root, { recursive: true });
  for (const [name, content] of Object.entries(gatedProject('said')))
    await writeFile(join(root, name), content);
  await symlink(PACKAGES, join(root, 'node_modules'));
  const commit = {
    sha: SHA,
    author: 'Ana',
    message: 'Answer in one sentence',
    time: '2026-01-01T00:00:00.000Z',
  };
  return { commit, root: 'source', config_file: 'langgraph.json', isolation: 'None: it is a test.' };
};

describe.runIf(hasStudio)('details of a deployment in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useDeploymentStudio(build);

  async function open(path: string) {
    const opened = await openStudio(studio.browser, studio.server.url, path);
    await signIn(opened.page, KEY);
    return opened;
  }

  const create = (name: string, repo_url: string) =>
    studio.server.create(name, {
      source: 'github',
      source_config: { repo_url, build_on_push: true },
      source_revision_config: { repo_ref: 'main' },
    });

  const button = (page: Page, name: string) =>
    page.getByRole('main').getByRole('button', { name, exact: true });
  const inDialog = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true });

  /** Asks for an action, and confirms it. */
  async function act(page: Page, action: string): Promise<void> {
    await button(page, action).press('Enter');
    await inDialog(page, action).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  test('a draining revision is shown with its runs next to the serving one, until they end', async () => {
    const { id, latest_revision_id } = await create('busy', 'https://git.example.com/busy.git');
    await studio.server.ended(id, latest_revision_id as string);
    const { page, problems } = await open(`/deployments/${id}`);
    const live = page.getByRole('table', { name: 'Running now' }).getByRole('row');
    await live.filter({ hasText: /#1\s*serving/ }).waitFor();
    await page.getByText('Set up a hook: pushes should be deployed').waitFor();
    await page.getByText('agent-server deployments hook-secret busy').waitFor();

    const gate = `${studio.server.folder}/gate`;
    const run = studio.server.run('busy', 'agent', { gate });
    await page.getByText('0 waiting, 1 running').waitFor();
    await button(page, 'Deploy newest').press('Enter');
    await inDialog(page, 'Deploy newest').press('Enter');
    await live.filter({ hasText: /#2\s*serving/ }).waitFor();
    const draining = live.filter({ hasText: /#1\s*draining/ });
    await draining.waitFor();
    const cells = await draining.getByRole('cell').allInnerTexts();
    // Runs, open requests, processes.
    expect(cells.slice(3, 6)).toEqual(['1', '1', '1 of 1 ready']);
    expect(await violations(page)).toEqual([]);

    await writeFile(gate, '');
    expect((await run).status).toBe(200);
    await draining.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('hooks are set up, and each delivery is shown with its outcome', async () => {
    const { id } = await create('hooked', 'https://git.example.com/hooked.git');
    const { page, problems } = await open(`/deployments/${id}`);
    await page.getByText('none (hooks are rejected)').waitFor();
    await button(page, 'Create secret').press('Enter');
    await inDialog(page, 'Create').press('Enter');
    const secret = await page.getByLabel('Hook secret', { exact: true }).inputValue();
    await inDialog(page, 'Done').press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);
    await button(page, 'Replace secret').waitFor();

    await page.getByLabel('Hook service').selectOption('gitlab');
    const url = await page.getByText(/\/hooks\/gitlab$/).innerText();
    expect((await sendHook(url, hookOf('gitlab', secret, { ref: 'refs/heads/dev' }))).status).toBe(202);
    const github = url.replace('gitlab', 'github');
    expect(
      (await sendHook(github, hookOf('github', secret, { delivery: 'two', sha: OTHER_SHA }))).status,
    ).toBe(202);
    const hooks = page.getByRole('table', { name: 'Hooks' }).getByRole('row');
    await hooks.filter({ hasText: 'refs/heads/dev was pushed' }).filter({ hasText: 'ignored' }).waitFor();
    const queued = hooks.filter({ hasText: 'queued' });
    await queued.getByText('GitHub').waitFor();
    await queued.getByRole('link', { name: 'Open revision' }).press('Enter');
    await page.getByRole('heading', { name: /^Revision \d$/ }).waitFor();
    await page.getByRole('table', { name: 'Running now' }).getByText('serving').first().waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('tokens, deploy keys and pinned hosts are stored and deleted; a token is never shown', async () => {
    const https = await create('private', 'https://git.example.com/private.git');
    const { page, problems } = await open(`/deployments/${https.id}`);
    await button(page, 'Add token').press('Enter');
    await page.getByLabel('Token', { exact: true }).fill(TOKEN);
    await inDialog(page, 'Save').press('Enter');
    await page.getByText(/^A token for git\.example\.com/).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(TOKEN);
    expect(await page.getByText('Deploy key').count()).toBe(0);
    await act(page, 'Delete token');
    await page.getByText('No token. Only public repositories can be fetched.').waitFor();

    const ssh = await create('over-ssh', 'git@git.example.com:me/private.git');
    await page.goto(`${studio.server.url}/studio/deployments/${ssh.id}`);
    await act(page, 'Create deploy key');
    const key = page.getByText(/^ssh-ed25519 \S+ agent-server over-ssh$/);
    await key.waitFor();
    await page.getByRole('list', { name: 'Pinned host keys' }).getByText(HOST_KEY).waitFor();
    expect(await violations(page)).toEqual([]);
    await act(page, 'Forget host keys');
    await page.getByRole('list', { name: 'Pinned host keys' }).waitFor({ state: 'detached' });
    await act(page, 'Delete key');
    await key.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a canary is deployed with its share, promoted, and ended; threads are pinned and pushes paused', async () => {
    const { id, latest_revision_id } = await create('shared', 'https://git.example.com/shared.git');
    await studio.server.ended(id, latest_revision_id as string);
    const { page, problems } = await open(`/deployments/${id}`);
    const main = page.getByRole('main');
    await main.getByText('serving #1').waitFor();
    const revisions = page.getByRole('table', { name: 'Revisions' }).getByRole('row');
    const share = page.getByLabel('Canary share of new threads', { exact: false });

    await button(page, 'Deploy newest').press('Enter');
    await share.fill('100');
    await inDialog(page, 'Deploy newest').press('Enter');
    await page.getByRole('dialog').getByRole('alert').getByText('a whole number from 1 to 99').waitFor();
    await share.fill('25');
    await inDialog(page, 'Deploy newest').press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await revisions
      .filter({ hasText: /#2\s*canary, 25 %/ })
      .filter({ hasNotText: 'serving' })
      .waitFor();
    await main.getByText('canary #2').waitFor();
    await main.getByText('serving #1').waitFor();
    expect(await violations(page)).toEqual([]);
    await act(page, 'Promote');
    await main.getByText('serving #2').waitFor();
    await revisions.filter({ hasText: /#1\s*replaced/ }).waitFor();

    await button(page, 'Deploy newest').press('Enter');
    expect(await share.inputValue()).toBe('');
    await share.fill('1');
    await inDialog(page, 'Deploy newest').press('Enter');
    await act(page, 'End canary');
    await revisions.filter({ hasText: /#3\s*interrupted/ }).waitFor();
    await main.getByText('serving #2').waitFor();

    await page.getByText('move to the newest revision').waitFor();
    await act(page, 'Pin threads');
    await page.getByText('stay on the revision of their first run').waitFor();
    await act(page, 'Stop deploying pushes');
    await page.getByText('are not deployed').waitFor();
    const { body } = await studio.server.get(`/v2/deployments/${id}`);
    expect(body.source_config).toMatchObject({ pin: 'thread', build_on_push: false });
    expect((await studio.server.get(`/v2/deployments/${id}/revisions`)).body.resources).toHaveLength(3);
    await act(page, 'Unpin threads');
    await page.getByText('move to the newest revision').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
