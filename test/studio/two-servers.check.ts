import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio } from '../support/studio-page.ts';
import { signIn } from '../support/studio-sign-in.ts';

const server = (operator: string) =>
  openApp({
    graphs: ['echo'],
    environment: { AGENT_SERVER_API_KEYS: operator },
    one_process: 'a port of its own',
  });

/** What `fetch` of a page comes to: a status, `opaque`, or `refused` by the browser. */
const asks = (page: Page, url: string, options: object) =>
  page.evaluate<string>(`fetch(${JSON.stringify(url)}, ${JSON.stringify({ credentials: 'include', ...options })})
    .then(({ type, status }) => (type === 'opaque' ? type : String(status)), () => 'refused')`);

describe.runIf(hasStudio)('Studios of two servers on one host (needs Chromium and a build)', () => {
  test('have separate sessions, and pages of one cannot use that of the other', async () => {
    await using own = await server('own-operator');
    await using other = await server('other-operator');
    const ownOrigin = new URL((await own.app.listen()).url).origin;
    const otherOrigin = new URL((await other.app.listen()).url).origin;
    const browser = await openBrowser();
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${ownOrigin}/studio`);
      await signIn(page, 'own-operator');
      const foreign = await context.newPage();
      await foreign.goto(`${otherOrigin}/studio`);
      await signIn(foreign, 'other-operator');
      // Without the policy of Studio, as any other program on this host may be.
      await foreign.goto(`${otherOrigin}/info`);

      const statuses: number[] = [];
      context.on('response', (response) => {
        if (response.url().startsWith(ownOrigin)) statuses.push(response.status());
      });
      const isPlain = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' };
      expect(await asks(foreign, `${ownOrigin}/keys`, {})).toBe('refused');
      expect(await asks(foreign, `${ownOrigin}/keys`, { mode: 'no-cors' })).toBe('opaque');
      expect(await asks(foreign, `${ownOrigin}/threads`, { mode: 'no-cors', ...isPlain })).toBe('opaque');
      expect(statuses.every((status) => status === 403)).toBe(true);
      expect((await own.post('/threads/search', {}, { 'x-api-key': 'own-operator' })).body).toEqual([]);

      await foreign.goto(`${otherOrigin}/studio`);
      await foreign.getByRole('button', { name: 'Sign out' }).click();
      await foreign.getByLabel('API key').waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    } finally {
      await browser.close();
    }
  });
});
