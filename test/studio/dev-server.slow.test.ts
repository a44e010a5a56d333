import { resolve } from 'node:path';
import { createServer } from 'vite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openApp } from '../support/app.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { PREPARATION_MS } from '../support/studio-page.ts';
import { signIn } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';

describe.runIf(hasBrowser)('the development server of Studio (needs Debian package chromium)', () => {
  test(
    'passes sessions, chats and changes through to a server',
    async () => {
      await using http = await openApp({
        graphs: ['chat'],
        environment: { AGENT_SERVER_API_KEYS: OPERATOR },
        one_process: 'an address of its own',
      });
      vi.stubEnv('STUDIO_SERVER', new URL((await http.app.listen()).url).origin);
      const vite = await createServer({
        configFile: resolve(import.meta.dirname, '../../studio/vite.config.ts'),
        cacheDir: await makeDataFolder(),
        logLevel: 'error',
        server: { host: '127.0.0.1' },
      });
      const browser = await openBrowser();
      onTestFinished(async () => {
        vi.unstubAllEnvs();
        await browser.close();
        await vite.close();
      });
      await vite.listen();
      const [url = ''] = vite.resolvedUrls?.local ?? [];
      const page = await browser.newPage();
      await page.goto(new URL('/studio', url).href);
      await page.getByRole('link', { name: '/studio/' }).waitFor();
      for (const path of ['/', '/studio/chat/chat']) {
        await page.goto(new URL(path, url).href);
        // The page of the sources, not that of the build which the server has.
        expect([path, await page.locator('script[src*="/src/main.tsx"]').count()]).toEqual([path, 1]);
      }
      await signIn(page, OPERATOR);
      await page.getByRole('textbox', { name: /^Message/ }).fill('From the sources');
      await page.keyboard.press('Enter');
      await page.getByText('You said: From the sources').first().waitFor();

      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Threads' }).click();
      await page.getByRole('link', { name: /^From the sources/ }).waitFor();
      await http.post('/threads', { metadata: { title: 'Another client' } }, { 'x-api-key': OPERATOR });
      await page.getByRole('link', { name: /^Another client/ }).waitFor();
    },
    PREPARATION_MS,
  );
});
