import { networkInterfaces } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const KEY = { 'x-api-key': OPERATOR };

/** Of this machine in its network; there, unlike at 127.0.0.1, a page over plain HTTP is not secure. */
const lanAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe.runIf(hasStudio)('Studio at other addresses (needs Chromium and a build of Studio)', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });

  afterAll(() => browser?.close());

  /** Whether a key, which is shown once in a dialog, can be copied there by keyboard, and pasted. */
  async function copiedKey(page: Page): Promise<boolean> {
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'New key' }).press('Enter');
    await page.getByLabel('Name (what the key is for)').fill('pasted');
    await page.keyboard.press('Enter');
    const key = await page.getByLabel('API key', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'Copy API key' }).press('Enter');
    const copied = page.getByRole('button', { name: 'Copied API key' });
    await copied.and(page.locator(':focus')).waitFor();
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await page.keyboard.press('Control+k');
    await page.locator('input:focus').waitFor();
    await page.keyboard.press('Control+v');
    return (await page.locator('input:focus').inputValue()) === key;
  }

  /** Signs in, talks to an agent, and sees what another client does. */
  async function use(
    http: Awaited<ReturnType<typeof openApp>>,
    base: string,
    prefix = '',
    at = '/studio',
  ): Promise<{ isSecure: boolean; copied: string }> {
    const { page, problems } = await openStudio(browser, base, '/chat/chat', at);
    await signIn(page, OPERATOR);
    await page.getByRole('textbox', { name: /^Message/ }).fill('From far away');
    await page.keyboard.press('Enter');
    await page.getByText('You said: From far away').first().waitFor();
    await page.reload();
    await page.getByText('You said: From far away').first().waitFor();

    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Threads' }).click();
    await page.getByRole('link', { name: /^From far away/ }).waitFor();
    await http.post(`${prefix}/threads`, { metadata: { title: 'Another client' } }, KEY);
    await page.getByRole('link', { name: /^Another client/ }).waitFor();

    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Connect' }).click();
    await page.getByRole('button', { name: /^Copy/ }).first().press('Enter');
    await page.getByRole('button', { name: /^Copied/ }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.locator('input:focus').waitFor();
    await page.keyboard.press('Control+v');
    const copied = await page.locator('input:focus').inputValue();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await copiedKey(page)).toBe(true);
    const isSecure = Boolean(await page.evaluate('isSecureContext'));
    expect(problems).toEqual([]);
    await page.context().close();
    return { isSecure, copied };
  }

  test.runIf(lanAddress)('over plain HTTP in a network, no screen needs a secure context', async () => {
    await using http = await openApp({
      graphs: ['chat'],
      environment: { AGENT_SERVER_API_KEYS: OPERATOR },
      server: { host: '0.0.0.0' },
      one_process: 'an address of its own',
    });
    const { port } = new URL((await http.app.listen()).url);
    const { isSecure, copied } = await use(http, `http://${lanAddress}:${port}`);
    expect(isSecure).toBe(false);
    expect(copied).toContain(`${lanAddress}:${port}`);
  });

  test('below a prefix', async () => {
    await using http = await openApp({
      graphs: ['chat'],
      environment: { AGENT_SERVER_API_KEYS: OPERATOR },
      http: { mount_prefix: '/agents' },
      one_process: 'a prefix of its own',
    });
    const { origin } = new URL((await http.app.listen()).url);
    await use(http, `${origin}/agents`, '/agents');
  });

  test('at a path of its own, below a prefix', async () => {
    await using http = await openApp({
      graphs: ['chat'],
      environment: { AGENT_SERVER_API_KEYS: OPERATOR },
      http: { mount_prefix: '/con' },
      studio: { path: '/console' },
      one_process: 'a path of its own',
    });
    const { origin } = new URL((await http.app.listen()).url);
    await use(http, `${origin}/con`, '/con', '/console');
  });
});
