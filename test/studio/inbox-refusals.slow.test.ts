import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';

const REVIEW = { action_requests: [{ name: 'pay', args: {} }] };

describe.runIf(hasStudio)(
  'answers on their way from the inbox of Studio (needs Chromium and a build)',
  () => {
    const studio = useStudioServer(['asks']);

    async function ask(): Promise<string> {
      const { thread_id } = await studio.client.threads.create();
      await studio.client.runs.wait(thread_id, 'asks', { input: { ask: REVIEW } });
      return thread_id;
    }

    const rows = (page: Page) => page.getByRole('list', { name: 'Waiting' }).getByRole('listitem');
    const runCount = async (thread_id: string) => (await studio.client.runs.list(thread_id)).length;

    test('a rejection with a reason cannot be sent again before it is stored', async () => {
      const thread_id = await ask();
      const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox');
      const sent: Route[] = [];
      await page.route(`**/threads/${thread_id}/runs`, (route) => void sent.push(route));
      const reject = page.getByRole('button', { name: /^Reject/ });
      await reject.click();
      await page.getByLabel('Reason (optional)').fill('Too much');
      await reject.click();
      await expect.poll(() => sent.length).toBe(1);
      expect(await reject.isDisabled()).toBe(true);
      await page.getByLabel('Reason (optional)').press('Enter');
      await sent[0]?.continue();
      await page.getByText('All caught up').waitFor();
      expect([sent.length, await runCount(thread_id)]).toEqual([1, 2]);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('if one of several answers is refused, the others are stored and only that one is sent again', async () => {
      const [first, second] = [await ask(), await ask()];
      const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox');
      await expect.poll(() => rows(page).count()).toBe(2);
      for (const box of await page.getByRole('list', { name: 'Waiting' }).getByRole('checkbox').all())
        await box.check();
      const sent = Promise.withResolvers<Route>();
      const refusal = { status: 503, json: { detail: 'Try again later.' } };
      await page.route(`**/threads/${first}/runs`, (route) => route.fulfill(refusal), { times: 1 });
      await page.route(`**/threads/${second}/runs`, (route) => sent.resolve(route));
      const refused = page.waitForResponse(`**/threads/${first}/runs`);
      const approve = page.getByRole('button', { name: /^Approve all/ });
      await approve.click();
      await refused;
      await (await sent.promise).continue();
      await page.getByRole('alert').getByText('1 of 2 threads were answered. Try again later.').waitFor();
      await expect.poll(() => rows(page).count()).toBe(1);
      await approve.click();
      await page.getByText('All caught up').waitFor();
      expect([await runCount(first), await runCount(second)]).toEqual([2, 2]);
      expect(problems).toEqual([]);
      await page.context().close();
    });
  },
);
