import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio, PREPARATION_MS } from '../support/studio-page.ts';
import { signIn } from '../support/studio-sign-in.ts';

const folder = resolve(import.meta.dirname, '../fixtures/components');
const OPERATOR = 'an-operator';
const KEY = { 'x-api-key': OPERATOR };

/** Of this machine in its network; there, unlike at 127.0.0.1, a page over plain HTTP is not secure. */
const lanAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

const HOW = {
  'in the process of the server': {},
  'in a graph host': { AGENT_SERVER_HOSTS: '1' },
};

describe.runIf(hasStudio)('components in Studio at other addresses (needs Debian package chromium)', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });

  afterAll(() => browser?.close());

  test.each(Object.entries(HOW))(
    'below a prefix, over plain HTTP in a network, with keys, for graphs %s',
    async (_how, environment) => {
      await using http = await openApp({
        graphs: ['cards'],
        folder,
        environment: { AGENT_SERVER_API_KEYS: OPERATOR, ...environment },
        http: { mount_prefix: '/agents' },
        server: { host: '0.0.0.0' },
        one_process: 'an address of its own',
      });
      const { port } = new URL((await http.app.listen()).url);
      const base = `http://${lanAddress ?? '127.0.0.1'}:${port}/agents`;
      const thread_id = (await http.post('/agents/threads', {}, KEY)).body.thread_id;
      const { page, problems } = await openStudio(browser, base, `/chat/cards/${thread_id}`);
      await signIn(page, OPERATOR);
      await page
        .getByRole('textbox', { name: /^Message/ })
        .fill('show ask {"text":"show progress {\\"title\\":\\"Next\\",\\"done\\":1}"}');
      await page.keyboard.press('Enter');
      await page.frameLocator('iframe').getByRole('button', { name: 'Ask' }).click();
      await page.frameLocator('iframe[title="Component progress"]').getByText('Next: 1 done').waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    },
    PREPARATION_MS,
  );

  test('a read-only session sees components, which cannot start runs', async () => {
    await using http = await openApp({
      graphs: ['cards'],
      folder,
      environment: { AGENT_SERVER_API_KEYS: OPERATOR },
      studio: { read_only: true },
      one_process: 'a setting of its own',
    });
    const { origin } = new URL((await http.app.listen()).url);
    const thread_id = (await http.post('/threads', {}, KEY)).body.thread_id;
    const messages = [{ type: 'human', content: 'show ask {"text":"hello"}' }];
    await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'cards', input: { messages } }, KEY);
    const { page, problems } = await openStudio(browser, origin, `/chat/cards/${thread_id}`);
    await signIn(page, OPERATOR);
    await page.frameLocator('iframe').getByRole('button', { name: 'Ask' }).click();
    await page.getByText('Your key cannot start or stop runs.').waitFor();
    expect((await http.get(`/threads/${thread_id}/runs`, KEY)).body).toHaveLength(1);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
