import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const ALICE = { authorization: 'Bearer alice-token' };

describe.runIf(hasStudio)('answers of users in the inbox of Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(['asks'], {
    folder: resolve(import.meta.dirname, '../fixtures/auth'),
    environment: { AGENT_SERVER_API_KEYS: OPERATOR },
  });

  test('who looks at a question that a user has answered is told the name of the user', async () => {
    const post = async (path: string, body: object) => (await studio.http.post(path, body, ALICE)).body;
    const { thread_id } = await post('/threads', {});
    const run = (body: object) => post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'asks', ...body });
    await run({ input: { ask: { question: 'Pay?' } } });

    const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox');
    await signIn(page, OPERATOR);
    await page.getByRole('heading', { name: 'Pay?' }).waitFor();
    await run({ command: { resume: 'yes' } });
    await page.getByText('alice has answered this meanwhile').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
