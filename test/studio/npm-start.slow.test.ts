import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer } from '../support/server.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';

const config = resolve(import.meta.dirname, '../../agent.config.yaml');

describe.runIf(hasStudio)('what npm start serves, in Studio (needs Debian package chromium)', () => {
  test('what the model saw in the second call of a run, and what it cost, is three clicks away', async () => {
    await using server = await startServer({ config, env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' } });
    const messages = [{ role: 'user', content: 'When is the shop open on Saturday?' }];
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.wait(thread_id, 'assistant', { input: { messages } });
    await using browser = await openBrowser();
    const { page } = await openStudio(browser, server.url, '/');
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    const calls = page.getByRole('region', { name: 'Steps' }).getByRole('button', { name: /ChatModel/ });
    await calls.nth(1).click();

    const conversation = page.getByRole('region', { name: 'Conversation' });
    await conversation.getByText('search_notes').first().waitFor();
    expect(await conversation.innerText()).toContain('When is the shop open on Saturday?');
    const facts = page.locator('dl > div').filter({ hasText: 'Cost' });
    expect(await facts.getByRole('definition').innerText()).toMatch(/^\$0\.\d*[1-9]/);
  });
});
