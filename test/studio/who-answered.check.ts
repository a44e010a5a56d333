import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const ALICE = { authorization: 'Bearer alice-token' };

describe.runIf(hasStudio)('answers of users in the inbox of Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(['asks'], {
    folder: resolve(import.meta.dirname, '../fixtures/auth'),
    environment: { AGENT_SERVER_API_KEYS: OPERATOR },
  });

  test('a viewer of an answered question sees the name of the user who answered', async () => {
    const post = async (path: string, body: object) => (await studio.http.post(path, body, ALICE)).body;
    const { thread_id } = await post('/threads', {});
    const run = (body: object) => post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'asks', ...body });
    await run({ input: { ask: { question: 'Pay?' } } });

    const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox');
    await signIn(page, OPERATOR);
    await page.getByRole('heading', { name: 'Pay?' }).waitFor();
    await run({ command: { resume: 'yes' } });
    await page.getByText('alice answered this in the meantime').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('answered interrupts are listed with user, time and run, and by the owner of the thread', async () => {
    const post = async (path: string, body: object) => (await studio.http.post(path, body, ALICE)).body;
    const { thread_id } = await post('/threads', {});
    const run = (body: object) => post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'asks', ...body });
    await run({ input: { ask: { question: 'Ship?', to: 'Rome' } } });

    const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox');
    await signIn(page, OPERATOR);
    await page.getByRole('heading', { name: 'Ship?' }).waitFor();
    await page.getByRole('link', { name: 'Answered' }).click();
    const rows = page.getByRole('table', { name: 'Answers' }).getByRole('row');
    await rows.filter({ hasText: 'Pay?' }).waitFor();
    await run({ command: { resume: 'next week' } });
    const row = rows.filter({ hasText: 'Ship?' });
    await row.getByRole('cell', { name: 'next week' }).waitFor();
    await row.getByRole('cell', { name: 'alice' }).waitFor();
    await row.getByRole('button', { name: 'Ship?' }).click();
    await page.getByLabel('Asked').getByText('"to": "Rome"').waitFor();
    expect(await violations(page)).toEqual([]);

    const owner = async (name: string) => {
      await page.getByLabel('Owner').fill(name);
      await page.getByLabel('Owner').press('Enter');
    };
    await owner('bob');
    await page.getByText('No matching answers').waitFor();
    await owner('alice');
    await row.getByRole('link').click();
    await page.waitForURL(/\/runs\/[\da-f-]{36}/);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
