import { resolve } from 'node:path';
import type { Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { endedRun } from '../support/ended-run.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const folder = resolve(import.meta.dirname, '../fixtures/conversing-graphs');
const PICTURES = process.env['TEST_PICTURES'];

describe.runIf(hasStudio)(
  'what steps were given and returned, in Studio (needs Debian package chromium)',
  () => {
    const environment = { AGENT_SERVER_RECORD: 'contents' };
    const usage = { currency: 'USD', prices: { '*': { in: 1, out: 2 } } };
    const studio = useStudioServer(['conversing', 'failing'], { folder, environment, usage } as never);
    const asked = { input: { messages: [{ role: 'user', content: 'Tea?' }] } };

    test('the second call of a model, with what it saw and what it cost, is three clicks away', async () => {
      await endedRun(studio.client, 'conversing', asked);
      const { page, problems } = await openStudio(studio.browser, studio.origin, '');
      await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      const calls = page
        .getByRole('region', { name: 'Steps' })
        .getByRole('button', { name: 'ConversingModel' });
      await calls.nth(1).click();

      const conversation = page.getByRole('region', { name: 'Conversation' });
      await conversation.getByRole('article').nth(3).waitFor();
      expect(await conversation.getByRole('article').allInnerTexts()).toEqual([
        expect.stringContaining('Be brief.'),
        expect.stringContaining('Tea?'),
        expect.stringContaining('search'),
        expect.stringContaining('found tea'),
      ]);
      expect(await conversation.getByText('new', { exact: true }).count()).toBe(2);
      await conversation.getByRole('checkbox').uncheck();
      expect(await conversation.getByText('new', { exact: true }).count()).toBe(0);
      expect(await page.getByRole('region', { name: 'Answer' }).innerText()).toContain('Tea it is.');
      expect(await page.getByRole('definition').allInnerTexts()).toContainEqual(
        expect.stringMatching(/^4 in · 2 out$/),
      );
      expect(await page.getByText('Cost', { exact: true }).count()).toBe(1);
      await page.getByText('Parameters', { exact: true }).click();
      await page.getByText('0.2').waitFor();
      expect(await violations(page)).toEqual([]);
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/model-call.png` });
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('a call after a changed message shows where the prefix breaks, and one whose conversation is cut shows no break', async () => {
      const { thread_id } = await endedRun(studio.client, 'conversing', asked);
      const { values } = await studio.client.threads.getState<{ messages: object[] }>(thread_id);
      const changed = { messages: [{ ...values.messages[0], content: 'Coffee?' }] };
      await studio.client.threads.updateState(thread_id, { values: changed, asNode: 'agent' });
      const { run_id } = await studio.client.runs.create(thread_id, 'conversing', asked);
      await studio.client.runs.join(thread_id, run_id);
      const long = Array.from({ length: 24 }, () => ({ role: 'user', content: 'tea '.repeat(12_500) }));
      const cut = await endedRun(studio.client, 'conversing', { input: { messages: long } });

      const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
      const call = (n: number) =>
        page.getByRole('region', { name: 'Steps' }).getByRole('button', { name: 'ConversingModel' }).nth(n);
      const conversation = page.getByRole('region', { name: 'Conversation' });
      await call(0).click();
      const notes = conversation.getByRole('listitem').filter({ has: page.getByRole('note') });
      expect(await notes.getByRole('article').first().innerText()).toContain('Coffee?');
      await page.goto(`${studio.origin}/studio/runs/${cut.run_id}`);
      await call(1).click();
      await conversation.getByText('found tea').waitFor();
      expect(await conversation.getByRole('note').count()).toBe(0);
      await page.context().close();
    });

    test('the line of a failing node is two clicks away', async () => {
      await endedRun(studio.client, 'failing', { input: {} }).catch(() => undefined);
      const { page } = await openStudio(studio.browser, studio.origin, '');
      await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
      await page.getByRole('row', { name: 'failing' }).first().getByRole('link').first().click();

      await page.getByText('> 7 |').first().waitFor();
      const place = page.getByRole('link', { name: 'failing.ts:7' }).first();
      expect(await place.getAttribute('href')).toMatch(/^vscode:\/\/file\/.*\/failing\.ts:7$/);
      expect(await page.getByRole('region', { name: 'Caused by' }).innerText()).toContain('SyntaxError');
      expect(await violations(page)).toEqual([]);
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/failure.png` });
      await page.context().close();
    });

    test('a tool shows its arguments and result, and a node its update, in the graph too', async () => {
      const { run_id } = await endedRun(studio.client, 'conversing', asked);
      const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
      const step = (name: string) =>
        page.getByRole('region', { name: 'Steps' }).getByRole('button', { name }).first();
      await step('search').click();
      expect(await page.getByRole('region', { name: 'Arguments' }).innerText()).toContain('"tea"');
      expect(await page.getByRole('region', { name: 'Result' }).innerText()).toContain('found tea');
      await step('tools').click();
      await page
        .getByRole('region', { name: 'Update' })
        .getByText('added:')
        .first()
        .waitFor({ state: 'attached' });
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/node-update.png` });
      await page.goto(`${studio.origin}/studio/runs/${run_id}?tab=graph&node=tools`);
      await page.getByRole('region', { name: 'Update' }).getByText('found tea').waitFor();
      expect(await violations(page)).toEqual([]);
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/graph-node.png` });
      await page.context().close();
    });

    test('the chat opens at the state before a call, as a branch, unless the user has left', async () => {
      const { run_id, thread_id } = await endedRun(studio.client, 'conversing', asked);
      const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
      const calls = page
        .getByRole('region', { name: 'Steps' })
        .getByRole('button', { name: 'ConversingModel' });
      const open = page.getByRole('button', { name: 'Open in chat from here' });
      const late = Promise.withResolvers<Route>();
      await page.route('**/state', (route) => late.resolve(route), { times: 1 });
      await calls.nth(1).click();
      await open.click();
      const route = await late.promise;
      await page.getByRole('navigation').getByRole('link', { name: 'Store' }).click();
      await page.getByRole('heading', { name: 'Store' }).waitFor();
      const forked = page.waitForResponse('**/state');
      await route.continue();
      await forked;
      // Whatever the answer leads to has happened when the page has answered a key since.
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      expect(new URL(page.url()).pathname).toBe('/studio/store');

      await page.goto(`${studio.origin}/studio/runs/${run_id}`);
      await calls.nth(1).click();
      await open.click();
      await page.waitForURL(`**/chat/**/${thread_id}`);
      const { values } = await studio.client.threads.getState(thread_id);
      expect((values as { messages: unknown[] }).messages).toHaveLength(3);
      await page.context().close();
    });
  },
);
