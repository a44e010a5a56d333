import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { loaded } from '../support/studio-screens.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const COLLEAGUE = 'a-colleague';
const KEY = { 'x-api-key': OPERATOR };

describe.runIf(hasStudio)('a session of Studio that ends (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['chat', 'questions', 'tokens'], {
    environment: { AGENT_SERVER_API_KEYS: `${OPERATOR},${COLLEAGUE}` },
  });

  async function open(path: string, key = OPERATOR) {
    const opened = await openStudio(studio.browser, studio.origin, path);
    await signIn(opened.page, key);
    return opened;
  }

  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' });

  /** The browser drops the cookie; another client changes what the page shows. */
  async function end(page: Page): Promise<void> {
    await page.context().clearCookies();
    await studio.http.post('/threads', {}, KEY);
    await dialog(page).waitFor();
  }

  async function signInAgain(page: Page, key: string): Promise<void> {
    await page.locator('input[type=password]:focus').waitFor();
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
  }

  test('hides unsaved text until the same user signs in again', async () => {
    const { page, problems } = await open('/chat/chat');
    const message = page.getByRole('textbox', { name: /^Message/ });
    await page.getByLabel('Files').setInputFiles({
      name: 'plan.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('The plan'),
    });
    await message.fill('A long thought');
    await page.keyboard.press('ArrowLeft');
    await end(page);
    expect(await message.isVisible()).toBe(false);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.evaluate('document.body.innerText')).not.toContain('Overview');
    expect(await violations(page)).toEqual([]);
    for (let n = 0; n < 20; n++) {
      await page.keyboard.press('Tab');
      const focused = `document.activeElement === document.body || document.activeElement.closest('dialog') !== null`;
      expect(await page.evaluate(focused)).toBe(true);
    }
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByLabel('API key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('Invalid API key').waitFor();
    await page.getByLabel('API key').fill('');

    await signInAgain(page, OPERATOR);
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('f');
    expect(await message.inputValue()).toBe('A long thoughft');
    await page.getByRole('list', { name: 'Attached' }).getByText('plan.txt').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('You said: A long thoughft').first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('keeps a form that was sent too late open, so that it can be sent again', async () => {
    const { page, problems } = await open('/keys');
    await page.getByRole('button', { name: 'New key' }).press('Enter');
    const form = page.getByRole('dialog', { name: 'New key' });
    await form.getByLabel('Name').fill('for the back end');
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
    expect(await form.count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialog(page).getByRole('heading').click();
    await page.getByLabel('API key').focus();

    await signInAgain(page, OPERATOR);
    expect(await form.getByLabel('Name').inputValue()).toBe('for the back end');
    await form.getByText('Your session has ended. Sign in and try again').waitFor();
    expect(await violations(page)).toEqual([]);
    await form.getByRole('button', { name: 'Create' }).press('Enter');
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  /** Forms by screen: how each is opened, and a field of it. */
  const FORMS: readonly (readonly [
    screen: string,
    address: () => Promise<string>,
    open: string | undefined,
    field: string | RegExp,
    text: string,
  ])[] = [
    ['the store', async () => '/store', 'New item', 'Key', 'saturday'],
    ['the crons', async () => '/crons', 'New cron', 'Schedule', '30 7 * * *'],
    ['an assistant', async () => `/assistants/${await assistant()}`, undefined, 'Name', 'Poet'],
    ['a thread', async () => `/threads/${await asked()}`, 'Rename', 'Title', 'Soup'],
    [
      'the state of a thread',
      async () => `/threads/${await asked()}`,
      'Edit state',
      'Values',
      '{"messages": 1}',
    ],
    ['the inbox', () => asked().then(() => '/inbox'), undefined, /^Answer/, 'Ana'],
  ];

  test.each(FORMS)('keeps the text written in %s', async (_screen, address, opener, label, text) => {
    const { page, problems } = await open(await address());
    if (opener !== undefined) await page.getByRole('button', { name: opener }).first().press('Enter');
    const field = page.getByRole('textbox', { name: label }).first();
    await field.fill(text);
    await end(page);
    // What is read anew then does not take its place.
    const hearing = page.waitForResponse('**/system/changes');
    await signInAgain(page, OPERATOR);
    await hearing;
    await loaded(page);
    expect((await field.textContent()) || (await field.inputValue())).toBe(text);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  async function assistant(): Promise<string> {
    return (await studio.http.post('/assistants', { graph_id: 'chat', name: 'Writer' }, KEY)).body
      .assistant_id;
  }

  async function asked(): Promise<string> {
    const { body } = await studio.http.post('/threads', {}, KEY);
    const input = { messages: [] };
    await studio.http.post(`/threads/${body.thread_id}/runs/wait`, { assistant_id: 'questions', input }, KEY);
    return body.thread_id;
  }

  test('keeps nothing for another user', async () => {
    const { page, problems } = await open('/chat/chat');
    const message = page.getByRole('textbox', { name: /^Message/ });
    await message.fill('Between us');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Go to' }).waitFor();
    await end(page);
    await signInAgain(page, COLLEAGUE);
    await message.waitFor();
    expect(await message.inputValue()).toBe('');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('resumes the view of a user that an administrator had chosen', async () => {
    const { page, problems } = await open('/chat/chat');
    await page.evaluate(`fetch('${studio.origin}/studio/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ view_as: 'jane' }),
    })`);
    await page.reload();
    await page.getByText('Seen as jane').waitFor();
    const message = page.getByRole('textbox', { name: /^Message/ });
    await message.fill('On behalf of Jane');
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
    await signInAgain(page, OPERATOR);
    await page.getByText('Seen as jane').waitFor();
    expect(await message.inputValue()).toBe('On behalf of Jane');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('resumes a screen that was opened after its end', async () => {
    const { body } = await studio.http.post('/threads', {}, KEY);
    const path = `/threads/${body.thread_id}/runs`;
    const { body: run } = await studio.http.post(
      path,
      { assistant_id: 'chat', input: { messages: [] } },
      KEY,
    );
    await studio.http.get(`${path}/${run.run_id}/join`, KEY);
    const { page, problems } = await open('/runs');
    const link = page.getByRole('main').locator(`a[href$="${run.run_id}"]`);
    await link.waitFor();
    await page.context().clearCookies();
    await link.press('Enter');
    await dialog(page).waitFor();
    await signInAgain(page, OPERATOR);
    await page.getByRole('link', { name: 'Timeline' }).waitFor();
    expect(await page.getByText('Your session has ended. Sign in and try again').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('resumes the stream of a run, with each token once', async () => {
    const { body: thread } = await studio.http.post('/threads', {}, KEY);
    const path = `/threads/${thread.thread_id}/runs`;
    const { body: run } = await studio.http.post(
      path,
      {
        assistant_id: 'tokens',
        input: { count: 150, token_ms: 20 },
        stream_mode: ['values', 'messages-tuple'],
        stream_resumable: true,
      },
      KEY,
    );
    const { page, problems } = await open('');
    await page.clock.install();
    await page.goto(`${studio.origin}/studio/chat/tokens/${thread.thread_id}`);
    await page.getByRole('log').getByText('t0 t1').waitFor();
    const turn = (state: 'hidden' | 'visible') =>
      page.evaluate(`
        Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    await turn('hidden');
    await page.clock.fastForward(30_000);
    await page.context().clearCookies();
    await turn('visible');
    await page.clock.fastForward(10_000);
    await dialog(page).waitFor();
    await studio.http.get(`${path}/${run.run_id}/join`, KEY);

    await signInAgain(page, OPERATOR);
    await page.getByRole('log').getByText('t149').waitFor();
    const said = await page.getByRole('article', { name: 'Assistant' }).innerText();
    expect(said.match(/t\d+/g)).toEqual(Array.from({ length: 150 }, (_, n) => `t${n}`));
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('resumes in all tabs of a browser, and signing out ends it in all of them', async () => {
    const { page, problems } = await open('/chat/chat');
    const message = page.getByRole('textbox', { name: /^Message/ });
    await message.fill('In the first tab');
    const other = await page.context().newPage();
    await other.goto(`${studio.origin}/studio`);
    await other.getByRole('button', { name: 'Sign out' }).waitFor();
    await end(page);
    await dialog(other).waitFor();
    await signInAgain(other, OPERATOR);
    await dialog(page).waitFor({ state: 'detached' });
    expect(await message.inputValue()).toBe('In the first tab');

    await other.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.getByRole('heading', { name: 'Agent Server' }).waitFor();
    expect(await dialog(page).count()).toBe(0);
    await signIn(page, OPERATOR);
    await message.waitFor();
    expect(await message.inputValue()).toBe('');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
