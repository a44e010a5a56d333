import { describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser, servePage } from '../../support/browser.ts';
import { startServer } from '../../support/server.ts';

describe.runIf(hasBrowser)('LoadExternalComponent in a browser (needs Debian package chromium)', () => {
  test("a component sent by a graph renders in the page with the page's React", async () => {
    await using server = await startServer({ env: { LANGGRAPH_UI: '{"weather":"./weather-ui.tsx"}' } });
    await using pages = await servePage('ui-page.tsx');
    await using browser = await openBrowser();
    const page = await pages.open(browser, { server: server.url, assistant: 'weather' });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));

    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('button', { name: 'Weather for Paris, asked 0 times' }).click();

    await page.getByRole('button', { name: 'Weather for Paris, asked 1 times' }).waitFor();
    expect(await page.getByText('Loading').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
