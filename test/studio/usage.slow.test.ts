import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const folder = resolve(import.meta.dirname, '../fixtures/conversing-graphs');
const PICTURES = process.env['TEST_PICTURES'];

describe.runIf(hasStudio)('tokens and cost in Studio (needs Chromium and a build of Studio)', () => {
  const environment = { AGENT_SERVER_RECORD: 'contents' };
  // A run of two calls costs 0.10: 1 of the 2 and of the 4 tokens that they read is cached.
  const usage = { currency: 'EUR', prices: { '*': { in: 10_000, cached: 1000, out: 12_000 } } };
  const budgets = { thread: {}, user_day: {}, key_day: {}, day: { max_tokens: 100 } };
  const runs = { budgets, max_cost: 2 };
  const studio = useStudioServer(['conversing'], { folder, environment, usage, runs } as never);

  const ask = async (thread_id: string, content: string) => {
    const input = { messages: [{ id: 'first', role: 'user', content }] };
    await studio.client.runs.wait(thread_id, 'conversing', { input });
    return (await studio.client.runs.list(thread_id))[0]?.run_id as string;
  };

  test('a run, its step, its thread and the list of runs have tokens and cost with the currency', async () => {
    const { thread_id } = await studio.client.threads.create();
    const run_id = await ask(thread_id, 'Tea?');
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const row = page.getByRole('table', { name: 'Runs' }).getByRole('row').nth(1);
    await row.getByRole('cell', { name: '€0.090', exact: true }).waitFor();
    expect(await row.getByRole('cell', { name: '10', exact: true }).count()).toBe(1);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/runs-cost.png` });

    await page.goto(`${studio.origin}/studio/runs/${run_id}`);
    await page.getByRole('listitem').filter({ hasText: 'Cost €0.090' }).waitFor();
    const calls = page
      .getByRole('region', { name: 'Steps' })
      .getByRole('button', { name: 'ConversingModel' });
    await calls.first().click();
    await page.getByRole('definition').filter({ hasText: '€0.035' }).waitFor();
    expect(await page.getByRole('definition').allInnerTexts()).toContainEqual('1 of them');

    await page.goto(`${studio.origin}/studio/threads/${thread_id}`);
    await page.getByText('10 tokens · €0.090').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
    await studio.client.threads.delete(thread_id);
  });

  test('tokens and cost of a listed run appear when it has used them', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const { thread_id } = await studio.client.threads.create();
    const input = { messages: [{ role: 'user', content: 'Tea?' }] };
    await studio.client.runs.create(thread_id, 'conversing', { input, afterSeconds: 3 });
    const row = page.getByRole('table', { name: 'Runs' }).getByRole('row').nth(1);
    await row.getByText('pending').waitFor();
    await row.getByRole('cell', { name: '€0.090', exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
    await studio.client.threads.delete(thread_id);
  });

  test('where two calls of a thread stop sharing their prefix is marked, with a link to the call before', async () => {
    const { thread_id } = await studio.client.threads.create();
    await ask(thread_id, 'Tea?');
    const changed = await ask(thread_id, 'Coffee?');
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${changed}`);
    const calls = page
      .getByRole('region', { name: 'Steps' })
      .getByRole('button', { name: 'ConversingModel' });
    await calls.first().click();
    const messages = page.getByRole('region', { name: 'Conversation' }).getByRole('listitem');
    const breaks = messages.filter({ has: page.getByRole('note') });
    await breaks.waitFor();
    expect(await breaks.count()).toBe(1);
    expect(await messages.nth(1).getByRole('note').count()).toBe(1);
    expect(await breaks.innerText()).toContain('Coffee?');
    expect(await violations(page)).toEqual([]);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/prefix.png` });
    await breaks.getByRole('link', { name: 'Previous call' }).press('Enter');
    await page.getByRole('region', { name: 'Conversation' }).getByText('found tea').waitFor();
    expect(page.url()).not.toContain(changed);
    expect(await page.getByRole('note').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
    await studio.client.threads.delete(thread_id);
  });

  test('usage is shown by day, assistant and model, with cache hits and what is used of a budget, while runs execute', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).press('Enter');
    await page.getByRole('progressbar', { name: /^All runs/ }).waitFor();
    const { thread_id } = await studio.client.threads.create();
    await ask(thread_id, 'Tea?');
    const { groups } = (await studio.http.get('/usage?by=model')).body;
    const { calls, tokens_in, tokens_out, tokens_cached } = groups[0];
    const today = page.getByRole('table', { name: 'Usage by day' }).getByRole('row').nth(1);
    await today.getByRole('cell', { name: new Date().toISOString().slice(0, 10) }).waitFor();
    const used = tokens_in + tokens_out;
    const meter = page.getByRole('progressbar', { name: `All runs: ${used} of 100 tokens` });
    expect(await meter.getAttribute('aria-valuenow')).toBe(String(used));
    await page.getByText('at most €2.00').waitFor();
    expect(await violations(page)).toEqual([]);

    await page.getByRole('link', { name: 'By assistant' }).press('Enter');
    const row = page.getByRole('table', { name: 'Usage by assistant' }).getByRole('row').nth(1);
    await row.getByRole('link', { name: 'conversing' }).waitFor();
    const cells = await row.getByRole('cell').allInnerTexts();
    const hits = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });
    expect(cells.slice(2)).toEqual(
      [calls, tokens_in, tokens_cached, hits.format(tokens_cached / tokens_in), tokens_out].map(String),
    );
    await row.getByRole('link', { name: 'conversing' }).press('Enter');
    await page.getByRole('table', { name: 'Usage by day' }).waitFor();
    expect(await page.getByLabel('Assistant', { exact: true }).inputValue()).not.toBe('');
    await page.getByLabel('Model', { exact: true }).fill('unknown');
    await page.getByLabel('Model', { exact: true }).press('Enter');
    await page.getByText('No matching usage').waitFor();
    expect(problems).toEqual([]);
    if (PICTURES) {
      await page.goto(`${studio.origin}/studio/usage`);
      await today.waitFor();
      await page.screenshot({ path: `${PICTURES}/usage.png` });
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 390, height: 844 });
      await page.screenshot({ path: `${PICTURES}/usage-dark-narrow.png`, fullPage: true });
    }
    await page.context().close();
  });
});
