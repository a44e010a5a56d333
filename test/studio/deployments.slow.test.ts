import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  type BuildRequest,
  type BuildRevision,
  RevisionError,
} from '../../src/extensions/deployments/services/builder.ts';
import { KEY, projectThat, unpack } from '../support/deployments.ts';
import { PACKAGES } from '../support/project.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useDeploymentStudio } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const COMMIT = {
  sha: '4f34d17aa0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5',
  author: 'Ana <ana@example.com>',
  message: 'Answer in one sentence\n\nCustomers asked for it.',
  time: '2026-01-01T00:00:00.000Z',
};
const SECRET = 'a-secret-that-no-page-shows';

/** What the next build does after it has printed something. */
let inBuild: (request: BuildRequest) => Promise<void> = async () => {};

/** Instead of git: a repository always has the same project, of one commit. */
const build: BuildRevision = async (request) => {
  const { folder, source, onStep, log } = request;
  onStep('install');
  log({ step: 'install', level: 'INFO', message: `added 12 packages for ${SECRET}` });
  log({ step: 'install', level: 'WARNING', message: 'deprecated: left-pad' });
  const work = inBuild;
  inBuild = async () => {};
  await work(request);
  if (source.kind === 'tarball') return unpack(request);
  const root = join(folder, 'source');
  await mkdir(root, { recursive: true });
  const files = projectThat('of the repository');
  for (const [name, content] of Object.entries(files))
    await writeFile(
      join(root, name),
      content.replace('=> ({ said', "=> (console.log('a line of the graph'), { said"),
    );
  await symlink(PACKAGES, join(root, 'node_modules'));
  return { commit: COMMIT, root: 'source', config_file: 'langgraph.json', isolation: 'None: it is a test.' };
};

describe.runIf(hasStudio)('deployments in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useDeploymentStudio(build);

  async function open(path: string, key = KEY) {
    const opened = await openStudio(studio.browser, studio.server.url, path);
    await signIn(opened.page, key);
    return opened;
  }

  const revisions = (page: Page) => page.getByRole('table', { name: 'Revisions' }).getByRole('row');

  /** What a page notices of its tab. */
  const turn = (page: Page, state: 'hidden' | 'visible') =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    `);

  /** Asks for an action by keyboard, and confirms it. */
  async function act(page: Page, action: string): Promise<void> {
    await page.getByRole('main').getByRole('button', { name: action, exact: true }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: action, exact: true }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
  }

  test('the page shows a deployment live until it serves: steps, logs, health and address', async () => {
    const { page, problems } = await open('/deployments');
    await page.getByText('agent-server deploy . --name my-agent').waitFor();

    const building = Promise.withResolvers<void>();
    inBuild = () => building.promise;
    const created = await studio.server.create('agent', {
      source: 'github',
      source_config: { repo_url: 'https://git.example.com/agent.git' },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
      secrets: [{ name: 'MODEL_KEY', value: SECRET }],
    });
    await page.getByRole('table', { name: 'Deployments' }).getByText('building #1').waitFor();
    await page.getByRole('link', { name: 'agent', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Revision 1' }).waitFor();
    const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
    await steps.filter({ hasText: /install\s*running/ }).waitFor();
    await page.getByRole('region', { name: 'Build log' }).getByText('added 12 packages').waitFor();
    await page.getByText('The revision is at step “install”').waitFor();
    expect(await page.getByRole('button', { name: 'Roll back' }).isDisabled()).toBe(true);
    expect(await page.getByTitle('No earlier revision has a build to roll back to.').count()).toBe(1);
    expect(await violations(page)).toEqual([]);

    building.resolve();
    await page.getByRole('main').getByText('serving #1').waitFor();
    await steps.filter({ hasText: /switch\s*done/ }).waitFor();
    await page.getByRole('region', { name: 'Build log' }).getByText('== switch').waitFor();
    await page.getByText('The log is complete.').waitFor();
    await page.getByText('healthy', { exact: true }).waitFor();
    // Although the deployment needs a key of its own.
    const live = page.getByRole('table', { name: 'Running now' }).getByRole('row');
    await live
      .filter({ hasText: /#1\s*serving/ })
      .filter({ hasText: '1 of 1 ready' })
      .waitFor();
    const docs = page.getByRole('link', { name: 'Open API docs' });
    expect(await docs.getAttribute('href')).toBe(`${studio.server.url}/deployments/agent/docs`);
    expect(await page.getByRole('list', { name: 'Secrets' }).innerText()).toBe('MODEL_KEY');
    await page
      .getByRole('navigation', { name: 'Views' })
      .getByRole('link', { name: 'Server log' })
      .press('Enter');
    await studio.server.run('agent');
    await page.getByRole('region', { name: 'Server log' }).getByText('a line of the graph').waitFor();
    expect(await page.getByTitle(COMMIT.sha).first().innerText()).toContain('4f34d17aa0b1');
    expect(await page.content()).not.toContain(SECRET);

    await page.goto(`${studio.server.url}/o/${created.tenant_id}/host/deployments/${created.id}`);
    await page.getByRole('heading', { name: 'agent', exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a run links to the revision that executed it', async () => {
    const { server } = studio;
    const [{ id, latest_revision_id: revision_id }] = (await server.get('/v2/deployments?name=agent')).body
      .resources;
    const { thread_id } = (await server.post('/threads')).body;
    const call = { assistant_id: 'main', input: {} };
    const { run_id } = (await server.post(`/threads/${thread_id}/runs`, call)).body;
    await server.get(`/threads/${thread_id}/runs/${run_id}/join`);
    const { page, problems } = await open('/runs');
    // As where the deployment has the root of the server.
    await page.route(/\/runs\/[^/]+\/(graph|explain)/, async (route) => {
      const body = await (await route.fetch()).json();
      await route.fulfill({ json: { ...body, revision_id, run_revision_id: revision_id } });
    });
    await page.goto(`${server.url}/studio/runs/${run_id}?tab=graph`);
    const link = (role: 'listitem' | 'paragraph') =>
      page.getByRole(role).filter({ hasText: 'Executed by revision' }).getByRole('link');
    await link('paragraph').waitFor();
    expect(await page.getByText('no longer serves').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await link('listitem').press('Enter');
    await page.getByRole('heading', { name: 'Revision 1' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/studio/deployments/${id}`);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a failed build shows the reason and what to do, and the old revision continues to serve', async () => {
    const { id } = (await studio.server.get('/v2/deployments?name=agent')).body.resources[0];
    const { page, problems } = await open(`/deployments/${id}`);
    await page.getByRole('main').getByText('serving #1').waitFor();
    inBuild = async () => {
      throw new RevisionError('install', 'lock_file_outdated', 'The lock file does not match package.json.');
    };
    await act(page, 'Deploy newest');
    await page.getByRole('alert').getByText('The lock file does not match package.json.').waitFor();
    await page.getByRole('main').getByText('build failed #2').waitFor();
    await page.getByText('Revision 1 keeps serving.').waitFor();
    expect(await violations(page)).toEqual([]);

    await act(page, 'Redeploy');
    await page.getByRole('main').getByText('serving #3').waitFor();
    await act(page, 'Roll back');
    await page.getByRole('main').getByText('serving #4').waitFor();
    await expect.poll(() => revisions(page).filter({ hasText: 'replaced' }).count()).toBe(2);
    await revisions(page).getByRole('link', { name: '#2' }).press('Enter');
    await page.getByRole('heading', { name: 'Revision 2' }).waitFor();
    expect(page.url()).toContain('revision=');
    await page.getByRole('button', { name: 'Deploy this revision' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an empty canary share is refused, and a confirmation applies only to the named revision', async () => {
    const deployment = (await studio.server.get('/v2/deployments?name=agent')).body.resources[0];
    const { id } = deployment;
    const { resources } = (await studio.server.get(`/v2/deployments/${id}/revisions`)).body;
    const third = resources.find(({ number }: { number: number }) => number === 3).id;
    const { page, problems } = await open(`/deployments/${id}`);
    await page.getByRole('main').getByText('serving #4').waitFor();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && /\/(revisions|redeploy)$/.test(request.url()))
        sent.push(request.url());
    });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Deploy newest' }).press('Enter');
    await dialog.getByLabel('Canary share').pressSequentially('5e');
    await dialog.getByRole('button', { name: 'Deploy newest' }).press('Enter');
    await dialog.getByRole('alert').getByText('a whole number from 1 to 99').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Roll back' }).press('Enter');
    await dialog.getByText('Roll back to revision 3?').waitFor();
    await page.route(`**/v2/deployments/${id}`, (route) =>
      route.fulfill({ json: { ...deployment, active_revision_id: third } }),
    );
    await page.getByText('replaced #3').waitFor();
    await dialog.getByText('Roll back to revision 3?').waitFor();
    await dialog.getByRole('button', { name: 'Roll back' }).press('Enter');
    await dialog.getByRole('alert').getByText('A different revision is current now').waitFor();
    expect(sent).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a log continues after its page was hidden, a revision is interrupted, and a deployment is deleted', async () => {
    const { id } = await studio.server.create('short');
    const { page, problems } = await open(`/deployments/${id}`);
    await page.getByText('nothing has been deployed yet').waitFor();
    const { promise: begun, resolve } = Promise.withResolvers<BuildRequest>();
    inBuild = (request) =>
      new Promise((_, reject) => {
        request.signal.addEventListener('abort', reject);
        resolve(request);
      });
    await studio.server.push(id, projectThat('never'));
    const { log } = await begun;
    await page.getByRole('main').getByText('building #1').waitFor();
    await page.clock.install();
    await page.reload();
    const lines = page.getByRole('region', { name: 'Build log' }).getByRole('listitem');
    await lines.filter({ hasText: 'left-pad' }).waitFor();

    await turn(page, 'hidden');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.clock.fastForward(60_000);
    log({ step: 'install', level: 'INFO', message: 'said while nobody looked' });
    expect(asked).toEqual([]);
    await turn(page, 'visible');
    await lines.filter({ hasText: 'said while nobody looked' }).waitFor();
    expect((await lines.allInnerTexts()).map((line) => line.split('\n').at(-1))).toEqual([
      '== install',
      `added 12 packages for ${SECRET}`,
      'deprecated: left-pad',
      'said while nobody looked',
    ]);

    await act(page, 'Interrupt');
    await page.getByText('interrupted', { exact: true }).first().waitFor();
    await act(page, 'Delete');
    await page.getByRole('heading', { name: 'Deployments' }).waitFor();
    await page.getByRole('link', { name: 'agent', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'short', exact: true }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a key for deployments sees nothing else, and a read key sees which scope it lacks', async () => {
    const keyWith = async (scope: string) =>
      (await studio.server.post('/keys', { name: scope, scope })).body.key as string;
    const { page, problems } = await open('', await keyWith('deployments:write'));
    await page.getByRole('link', { name: 'agent', exact: true }).waitFor();
    const screens = page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
    expect(await screens.allInnerTexts()).toEqual(['Deployments']);
    expect(problems).toEqual([]);
    await page.context().close();

    const reader = await open('/deployments', await keyWith('read'));
    await reader.page.getByText('key with the scope deployments:write or admin').waitFor();
    await reader.page.context().close();
  });
});
