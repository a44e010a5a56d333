import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const COLLEAGUE = 'a-colleague';

describe.runIf(hasStudio)('the shell of Studio (needs Chromium and a build of Studio)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    const environment = { AGENT_SERVER_API_KEYS: `${OPERATOR},${COLLEAGUE}` };
    [http, browser] = await Promise.all([openApp({ graphs: ['echo'], environment }), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  test('a wrong key is refused with a message, and a right one shows the requested page', async () => {
    const { page, problems } = await openStudio(browser, origin, '/runs?status=error');
    await page.getByLabel('API key').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).press('Enter');
    await page.getByText('Invalid API key').waitFor();
    expect(await violations(page)).toEqual([]);
    await signIn(page, OPERATOR);
    await page.getByText('No matching runs').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.getByLabel('API key').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a page whose files fail to load reloads itself, and reports a second failure', async () => {
    const page = await (await browser.newContext()).newPage();
    let refused = 0;
    let limit = 2;
    await page.route('**/assets/index-*.js', (route) =>
      refused++ < limit ? route.abort('failed') : route.continue(),
    );
    await page.goto(`${origin}/studio/runs`);
    await page.getByLabel('API key').waitFor();
    expect(refused).toBe(limit + 1);
    limit = Number.POSITIVE_INFINITY;
    await page.reload();
    await page.getByRole('alert').getByText('could not be loaded').waitFor();
    limit = 0;
    await page.getByRole('link', { name: 'Load it again' }).press('Enter');
    await signIn(page, OPERATOR);
    await page.context().close();
  });

  test('the overview links to a chat, and shows changes by another client', async () => {
    const { page, problems } = await openStudio(browser, origin, '');
    await signIn(page, OPERATOR);
    await page.getByText('0 queued').waitFor();
    const theme = page.getByRole('button', { name: 'Dark theme' });
    expect(await theme.locator('svg').boundingBox()).toMatchObject({ width: 16, height: 16 });
    expect(await violations(page)).toEqual([]);
    const key = { 'x-api-key': OPERATOR };
    const { body } = await http.post('/threads', {}, key);
    const later = { assistant_id: 'echo', input: { x: 1 }, after_seconds: 3600 };
    await http.post(`/threads/${body.thread_id}/runs`, later, key);
    await page.getByText('1 queued').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Chat' }).press('Enter');
    await page.getByRole('heading', { name: 'echo' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the next user to sign in does not see what the previous one wrote', async () => {
    const { page, problems } = await openStudio(browser, origin, '/chat/echo');
    await signIn(page, OPERATOR);
    await page.getByRole('button', { name: 'As JSON' }).press('Enter');
    const input = page.getByLabel('Input as JSON');
    await input.fill('{"x":5}');
    await input.press('Control+Enter');
    await page.getByRole('link', { name: 'Last run' }).waitFor();
    const written = async () => {
      await input.fill('');
      await input.press('ArrowUp');
      return input.inputValue();
    };
    expect(await written()).toBe('{"x":5}');
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await signIn(page, COLLEAGUE);
    await page.getByRole('link', { name: 'Last run' }).waitFor();
    await page.getByRole('button', { name: 'As JSON' }).press('Enter');
    expect(await written()).toBe('');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('after the end of the view of a user, changes hidden from that user are shown', async () => {
    const named = (title: string) =>
      http.post('/threads', { metadata: { title } }, { 'x-api-key': OPERATOR });
    const { page, problems } = await openStudio(browser, origin, '');
    await signIn(page, OPERATOR);
    await page.evaluate(`fetch('${origin}/studio/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ view_as: 'jane' }),
    })`);
    const hearing = page.waitForResponse('**/system/changes');
    await page.goto(`${origin}/studio/threads`);
    await page.getByText('Seen as jane').waitFor();
    await hearing;
    await named('Of the operator');
    await page.getByRole('button', { name: 'End' }).press('Enter');
    await page.getByRole('link', { name: /^Of the operator/ }).waitFor();
    await named('Of the operator too');
    await page.getByRole('link', { name: /^Of the operator too/ }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an administrator can view as a user from the bar or the palette, and others cannot', async () => {
    const { page, problems } = await openStudio(browser, origin, '/threads');
    await signIn(page, OPERATOR);
    const offer = page.getByRole('button', { name: 'View as user' });
    await offer.press('Enter');
    await page.locator('input:focus').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.type('jane');
    await page.keyboard.press('Enter');
    await page.getByText('Seen as jane').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await offer.count()).toBe(0);
    await page.getByRole('button', { name: 'End' }).press('Enter');
    await offer.waitFor();

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('view as');
    await page.keyboard.press('Enter');
    await page.getByLabel('User identity').fill('ben');
    await page.keyboard.press('Enter');
    await page.getByText('Seen as ben').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();

    const created = await http.post('/keys', { name: 'r', scope: 'run' }, { 'x-api-key': OPERATOR });
    const other = await openStudio(browser, origin, '/threads');
    await signIn(other.page, created.body.key);
    await other.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await other.page.getByRole('button', { name: 'View as user' }).count()).toBe(0);
    await other.page.context().close();
  });

  test('the palette opens any screen by keyboard', async () => {
    const { page, problems } = await openStudio(browser, origin, '');
    await signIn(page, OPERATOR);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('hook');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a server without deployments has no screen for them, and its address shows how to enable them', async () => {
    const { page, problems } = await openStudio(browser, origin, '/deployments');
    await signIn(page, OPERATOR);
    await page.getByText('Set deployments.enabled').waitFor();
    const screens = page.getByRole('navigation', { name: 'Screens' });
    expect(await screens.getByRole('link', { name: 'Deployments' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
