import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;

describe.runIf(hasStudio)('filters of the inbox of Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['asks', 'interrupting']);

  async function ask(assistant: string, ask: object, metadata = {}): Promise<void> {
    const { thread_id } = await studio.client.threads.create({ metadata });
    await studio.client.runs.wait(thread_id, assistant, { input: { ask } });
  }

  /** Resolves when the list shows these questions and no others. */
  const shows = (page: Page, ...questions: string[]) =>
    until(`the inbox shows ${questions.join(', ') || 'nothing'}`, async () => {
      const rows = page.getByRole('list', { name: 'Waiting' }).getByRole('link');
      const shown = (await rows.allInnerTexts()).map((text) => text.split('\n')[0]);
      return JSON.stringify(shown) === JSON.stringify(questions);
    });

  test('select interrupts by assistant, owner, age and deadline, and are in the address', async () => {
    const start = Date.now();
    const at = (hours: number) => new Date(start + hours * HOUR_MS).toISOString();
    await ask('interrupting', {});
    await ask('asks', { question: 'Pay?', deadline: at(1) }, { owner: 'ana' });
    await ask('asks', { question: 'Ship?', deadline: at(20) }, { owner: 'bob' });
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox');
    const choose = (name: string, option: string) =>
      page.getByLabel(name, { exact: true }).selectOption(option);
    await shows(page, 'ok?', 'Pay?', 'Ship?');
    expect(await violations(page)).toEqual([]);
    await page.getByText(/^due in \d+ min/).waitFor();

    await choose('Assistant', 'asks');
    await shows(page, 'Pay?', 'Ship?');
    await page.getByLabel('Owner').fill('ana');
    await page.getByLabel('Owner').press('Enter');
    await shows(page, 'Pay?');
    expect(new URL(page.url()).searchParams.get('owner')).toBe('ana');
    await page.getByLabel('Owner').fill('');
    await page.getByLabel('Owner').press('Enter');
    await choose('Assistant', 'Any assistant');
    await shows(page, 'ok?', 'Pay?', 'Ship?');

    await choose('Deadline', 'Overdue');
    await page.getByText('No matching questions').waitFor();
    await choose('Deadline', 'Due within a day');
    await shows(page, 'Pay?', 'Ship?');
    await choose('Age', 'Waiting over an hour');
    await page.getByText('No matching questions').waitFor();

    // Two hours later.
    await page.clock.setFixedTime(start + 2 * HOUR_MS);
    await page.reload();
    await shows(page, 'Pay?', 'Ship?');
    expect(await page.getByLabel('Age', { exact: true }).inputValue()).toBe('1');
    await page
      .getByRole('link', { name: /^Pay\?/ })
      .getByText('was due 1 h ago')
      .waitFor();
    await choose('Deadline', 'Overdue');
    await shows(page, 'Pay?');
    expect(await violations(page)).toEqual([]);
    await choose('Deadline', 'Any deadline');
    await shows(page, 'ok?', 'Pay?', 'Ship?');
    await choose('Age', 'Waiting over a day');
    await page.getByText('No matching questions').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('accept older links that name the owner as user', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox?user=bob');
    await shows(page, 'Ship?');
    expect(await page.getByLabel('Owner').inputValue()).toBe('bob');
    await page.getByLabel('Owner').fill('');
    await page.getByLabel('Owner').press('Enter');
    await shows(page, 'ok?', 'Pay?', 'Ship?');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('continue after a page without a matching interrupt', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    // As where thousands wait.
    await page.route('**/interrupts/search', (route) => {
      const isFirst = route.request().postDataJSON().cursor === undefined;
      return isFirst
        ? route.fulfill({ json: [], headers: { 'X-Pagination-Next': 'further' } })
        : route.continue({ postData: '{"deadline_from": "2026-01-01T00:00:00Z", "sort_order": "asc"}' });
    });
    await page.goto(`${studio.origin}/studio/inbox?due=24`);
    await page.getByText('No matches so far').waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await shows(page, 'Pay?', 'Ship?');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
