import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { addresses, loaded, type ShownIds } from '../support/studio-screens.ts';
import { useStudioServer } from '../support/studio-server.ts';

describe.runIf(hasStudio)('preferences in Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(['chat', 'tokens']);

  /** Whether the page is drawn on a dark background. */
  const isDark = async (page: Page) => {
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    return (background.match(/\d+/g) ?? []).slice(0, 3).every((part) => Number(part) < 128);
  };

  test('the theme follows the system until one is chosen, which is then kept', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const colorScheme of ['dark', 'light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => isDark(page)).toBe(colorScheme === 'dark');
    }
    const toggle = page.getByRole('button', { name: 'Dark theme' });
    expect(await toggle.getAttribute('aria-pressed')).toBe('true');
    await toggle.press('Enter');
    await expect.poll(() => isDark(page)).toBe(false);
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await isDark(page)).toBe(false);
    // What the system has is followed again once it is chosen.
    await toggle.click();
    await expect.poll(() => isDark(page)).toBe(true);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => isDark(page)).toBe(false);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  /** Elements that take time to change, or scroll smoothly. */
  const moving = (page: Page) =>
    page.evaluate<string[]>(`
      [...document.querySelectorAll('*')].filter((element) =>
        [undefined, '::before', '::after'].some((pseudo) => {
          const style = getComputedStyle(element, pseudo);
          const times = [style.transitionDuration, style.animationDuration].join().split(',');
          return times.some((time) => Number.parseFloat(time) > 0) || style.scrollBehavior === 'smooth';
        })).map(({ outerHTML }) => outerHTML.slice(0, 100))
    `);

  test('with reduced motion nothing moves, not even while an answer is written', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(`${studio.origin}/studio/chat/tokens/${thread_id}`);
    await page.getByRole('log').waitFor();
    const { run_id } = await studio.client.runs.create(thread_id, 'tokens', {
      input: { count: 2000, token_ms: 20 },
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    await page.getByRole('log').getByText('t0 t1').waitFor();
    expect(await moving(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.locator('input:focus').waitFor();
    expect(await moving(page)).toEqual([]);
    await studio.client.runs.cancel(thread_id, run_id, true);
    for (const address of Object.values(addresses(await shown(thread_id, run_id)))) {
      await page.goto(`${studio.origin}/studio${address}`);
      await loaded(page);
      expect(await moving(page), address).toEqual([]);
    }
    // Of whatever may be added: only those who do not mind see it move.
    const transition = () => page.evaluate('getComputedStyle(document.body).transitionDuration');
    await page.evaluate(`document.body.style.transition = 'opacity 1s'`);
    expect(await transition()).toBe('0s');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await transition()).toBe('1s');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  /** Rows for all screens; nothing else is on this server. */
  async function shown(thread_id: string, run_id: string): Promise<ShownIds> {
    const [{ assistant_id = '' } = {}] = await studio.client.assistants.search({ graphId: 'chat' });
    const none = randomUUID();
    return { thread_id, run_id, assistant_id, cron_id: none, delivery_id: none, deployment_id: none };
  }
});
