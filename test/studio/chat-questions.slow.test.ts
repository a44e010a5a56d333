import { describe, expect, test } from 'vitest';
import { say, says, useStudioChat } from '../support/studio-chat.ts';
import { hasStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)(
  'questions and breakpoints in a chat of Studio (needs Debian package chromium)',
  () => {
    const chat = useStudioChat(['chat', 'chat-question', 'parallel-send', 'questions']);

    test('a run stops at a breakpoint, shows its state, and continues, by keyboard', async () => {
      const page = await chat.open('chat/chat');
      await page.getByRole('button', { name: 'Breakpoints' }).press('Enter');
      await page.getByLabel('before answer').press('Space');
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Done' }).press('Enter');
      await page.getByRole('button', { name: '1 breakpoint' }).waitFor();
      await say(page, 'Wait for me');
      await page.getByText('Stopped before').waitFor();
      expect(await page.getByText('You said').count()).toBe(0);
      await page.getByRole('button', { name: 'Continue' }).press('Enter');
      await says(page, 'You said: Wait for me');
      await page.reload();
      await page.getByRole('button', { name: '1 breakpoint' }).waitFor();
    });

    test('three questions in a row are answered, each in its own form', async () => {
      const page = await chat.open('chat/questions');
      await say(page, 'A trip, please');
      await page.getByLabel(/^Answer/).fill('Ada');
      await page.getByText('sent as text').waitFor();
      await page.getByRole('button', { name: 'Answer' }).click();

      await page.getByLabel('City').fill('Rome');
      await page.getByLabel('Nights').fill('two');
      await page.getByLabel('Class').selectOption('second');
      await page.getByRole('button', { name: 'Answer', exact: true }).click();
      await page.getByText('Enter a number.').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Nights').fill('2');
      await page.getByRole('button', { name: 'Answer', exact: true }).click();

      await page.getByLabel('Hotel').fill('Sacher');
      await page.getByRole('button', { name: 'Approve' }).click();
      const booked = [{ type: 'edit', args: { action: 'book', args: { hotel: 'Sacher' } } }];
      const trip = { city: 'Rome', nights: 2, class: 'second', breakfast: false };
      await says(page, JSON.stringify({ name: 'Ada', trip, booked }));
    });

    test('two questions at once are answered one by one, each with what was typed for it, and the input of the graph is a form', async () => {
      const page = await chat.open('chat/parallel-send');
      await page.getByLabel('Items').fill('[2, 3]');
      await page.getByLabel('Ask').check();
      await page.getByRole('button', { name: /^Run/ }).click();
      const questions = page.getByRole('region', { name: 'Question from the agent' });
      await questions.nth(1).waitFor();
      const answerTo = (item: number) =>
        questions.filter({ hasText: `{"factor_for":${item}}` }).getByLabel(/^Answer/);
      await answerTo(2).fill('1');
      await answerTo(3).fill('10');
      await page.keyboard.press('Enter');
      await answerTo(3).waitFor({ state: 'detached' });
      await answerTo(2).press('Enter');
      await page.getByRole('group', { name: 'squares' }).getByText('[4,90]').waitFor();
    });

    test('the question of one thread is not shown in another', async () => {
      const page = await chat.open('chat/chat-question');
      await say(page, 'First');
      const question = page.getByRole('region', { name: 'Question from the agent' });
      await question.waitFor();
      await page.getByLabel(/^Answer/).fill('never sent');
      await page.getByRole('link', { name: 'New thread' }).click();
      expect(await question.count()).toBe(0);
      await say(page, 'Second');
      await question.waitFor();
      expect(await page.getByLabel(/^Answer/).inputValue()).toBe('');
      await page.getByLabel(/^Answer/).fill('Bo');
      await page.keyboard.press('Enter');
      await says(page, 'Hello, Bo.');

      await page.goBack();
      await page.goBack();
      await says(page, 'First');
      await question.waitFor();
    });
  },
);
