import { describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser, servePage } from '../support/browser.ts';
import { startServer } from '../support/server.ts';

describe.runIf(hasBrowser)('LoadExternalComponent in a browser (needs Debian package chromium)', () => {
  test('a component of the project lives in the page of a client, with its React', async () => {
    await using server = await startServer();
    await using pages = await servePage('ui-page.tsx');
    await using browser = await openBrowser();
    const page = await pages.open(browser, {
      server: server.url,
      assistant: 'echo',
      component: 'weather',
      props: JSON.stringify({ city: 'Paris' }),
    });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));

    const card = page.getByRole('button', { name: 'Weather for Paris, asked 0 times' });
    await card.click();

    await page.getByRole('button', { name: 'Weather for Paris, asked 1 times' }).waitFor();
    expect(await page.locator('#root').getByText('Loading').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
