import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { project } from '../support/project.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

/** Texts about drinks point one way, others another. */
const EMBED = `
  const DRINKS = /tea|coffee|drink/;
  export const embed = async (texts: string[]) => texts.map((text) => (DRINKS.test(text) ? [1, 0] : [0.6, 0.8]));
`;
const CONFIG = `
graphs: { echo: "${resolve(import.meta.dirname, '../fixtures/graphs/echo.ts')}:graph" }
store: { index: { dims: 2, embed: ./embed.ts:embed, fields: [text] } }
`;

describe.runIf(hasStudio)('the store in Studio with an index (needs Chromium and a build of Studio)', () => {
  test('items are found by their meaning, the best match first, with scores', async () => {
    await using folder = await project({ 'embed.ts': EMBED, 'agent.config.yaml': CONFIG });
    await using http = await openApp({ graphs: ['echo'], folder: folder.root });
    const browser = await openBrowser();
    try {
      const { origin } = new URL((await http.app.listen()).url);
      for (const [key, text] of Object.entries({ bike: 'rides a red bicycle', cup: 'likes green tea' }))
        await http.send('PUT', '/store/items', { namespace: ['ana'], key, value: { text } });
      const { page, problems } = await openStudio(browser, origin, '/store');
      await page.getByLabel('Search items').fill('coffee');
      await page.keyboard.press('Enter');
      const items = page.getByRole('table', { name: 'Items' });
      await items.getByRole('columnheader', { name: 'Score' }).waitFor();
      await items.getByText('1.000').waitFor();
      const rows = (await items.getByRole('row').allInnerTexts()).slice(1);
      expect(rows).toEqual([
        expect.stringMatching(/^\s*cup\s+ana\s+1\.000/),
        expect.stringMatching(/^\s*bike\s+ana\s+0\.600/),
      ]);
      expect(new URL(page.url()).searchParams.get('query')).toBe('coffee');
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
