import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('questions with options in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['asks']);

  /** The id of a thread that waits for one of two colours. */
  async function asking(): Promise<string> {
    const options = [{ label: 'Bright red', value: 'red' }, 'blue'];
    const ask = { question: 'Which colour should the door have?', options };
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'asks', { input: { ask } });
    return thread_id;
  }

  const answerOf = async (thread_id: string) => {
    const { values } = await studio.client.threads.getState(thread_id);
    return (values as { answer?: unknown }).answer;
  };

  test('in the inbox, the question is a heading and each option a button, which a key presses too', async () => {
    const thread_id = await asking();
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/inbox');
    await page.getByRole('heading', { name: 'Which colour should the door have?' }).waitFor();
    await page.getByRole('button', { name: 'Bright red' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('1');
    await expect.poll(() => answerOf(thread_id)).toBe('red');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('in a chat, an option is the answer, and another one can be written', async () => {
    const [first, second] = [await asking(), await asking()];
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/chat/asks/${first}`);
    await page.getByRole('button', { name: 'blue' }).click();
    await expect.poll(() => answerOf(first)).toBe('blue');
    await page.goto(`${studio.origin}/studio/chat/asks/${second}`);
    await page.getByRole('button', { name: 'Another answer' }).click();
    const question = page.getByRole('region', { name: 'Question from the agent' });
    await question.getByLabel(/^Answer/).fill('green');
    await question.getByRole('button', { name: 'Answer', exact: true }).click();
    await expect.poll(() => answerOf(second)).toBe('green');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
