import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const PICTURES = process.env['TEST_PICTURES'];
const NARROW = { width: 390, height: 844 };

/** Puts a picture of these sides on the clipboard. */
const copyPicture = (width: number, height: number) => `(async () => {
  const canvas = new OffscreenCanvas(${width}, ${height});
  const context = canvas.getContext('2d');
  for (let n = 0; n < 300; n++) {
    context.fillStyle = 'hsl(' + n * 37 + ' 80% 50%)';
    context.fillRect((n * 97) % ${width}, (n * 61) % ${height}, 90, 70);
  }
  const blob = await canvas.convertToBlob({ type: 'image/png' });
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
})()`;

describe.runIf(hasStudio)('beside and below a chat of Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['chat', 'asks', 'zod-state']);

  beforeAll(() => readSchemas(studio.origin, ['chat', 'asks', 'zod-state']), PREPARATION_MS);

  const open = (path: string) => openStudio(studio.browser, studio.origin, path);
  const picture = async (page: Page, name: string) => {
    if (!PICTURES) return;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.screenshot({ path: `${PICTURES}/${name}.png` });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize(NARROW);
    await page.screenshot({ path: `${PICTURES}/${name}-dark-narrow.png` });
  };

  async function conversation(title: string): Promise<string> {
    const { thread_id } = await studio.client.threads.create({ metadata: { title } });
    const input = { messages: [{ role: 'user', content: title }] };
    await studio.client.runs.wait(thread_id, 'chat', { input });
    return thread_id;
  }

  test('the conversations of the assistant are alongside, and another one is a key away', async () => {
    const [tea, coffee] = [await conversation('About tea'), await conversation('About coffee')];
    const { page, problems } = await open(`/chat/chat/${tea}`);
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.getByRole('link', { name: 'About tea', exact: false }).waitFor();
    expect(await list.locator('[aria-current=page]').innerText()).toContain('About tea');
    expect(await violations(page)).toEqual([]);
    await list.getByRole('link', { name: 'About coffee', exact: false }).press('Enter');
    await page.waitForURL(`**/${coffee}`);
    await page.getByRole('log').getByText('You said: About coffee').waitFor();
    await picture(page, 'conversations');
    // On a small screen they are on the page of a new conversation.
    await page.setViewportSize(NARROW);
    expect(await list.isVisible()).toBe(false);
    await page.getByRole('link', { name: 'New thread' }).click();
    await page.getByRole('link', { name: 'About tea' }).click();
    await page.waitForURL(`**/${tea}`);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a question that waits stays in view, however far the conversation is scrolled', async () => {
    const ask = { question: 'Which one?', options: ['left', 'right'], details: 'word '.repeat(4000) };
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'asks', { input: { ask } });
    const { page, problems } = await open(`/chat/asks/${thread_id}`);
    const question = page.getByRole('region', { name: 'Question from the agent' });
    await question.waitFor();
    await page.getByRole('log').evaluate((log) => {
      (log as unknown as { scrollTop: number }).scrollTop = 0;
    });
    const { y = 999, height = 0 } = (await question.boundingBox()) ?? {};
    const box = (await page.getByRole('log').boundingBox()) as { y: number; height: number };
    expect(y).toBeLessThan(box.y + box.height - 40);
    expect(height).toBeGreaterThan(40);
    for (const name of ['left', 'right']) {
      const button = await page.getByRole('button', { name }).boundingBox();
      expect(button?.y).toBeLessThan(box.y + box.height);
    }
    expect(await violations(page)).toEqual([]);
    await picture(page, 'question');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a form shows what the graph needs first, with types and examples, and folds the rest', async () => {
    const { page, problems } = await open('/chat/zod-state');
    const topic = page.getByLabel('Topic');
    await topic.waitFor();
    expect(await topic.getAttribute('aria-description')).toBe('text');
    const words = page.getByLabel('Words');
    expect(await words.isVisible()).toBe(false);
    await picture(page, 'form');
    await page.getByText('1 more field').press('Enter');
    await words.waitFor();
    expect(await words.getAttribute('aria-description')).toBe('list of texts');
    expect(await words.getAttribute('placeholder')).toContain('["text"]');
    expect(await violations(page)).toEqual([]);
    // An error opens the fold again.
    await words.fill('[1');
    await page.getByText('1 more field').click();
    expect(await words.isVisible()).toBe(false);
    await topic.fill('tea');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByText(/^Invalid JSON/).waitFor();
    await words.fill('[]');
    await topic.press('ControlOrMeta+Enter');
    await page.getByRole('group', { name: 'words' }).getByText('["tea","tea","tea"]').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a large image is scaled down before it is sent', async () => {
    const { page, problems } = await open('/chat/chat');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('textbox', { name: /^Message/ }).click();
    await page.evaluate(copyPicture(3200, 1600));
    await page.keyboard.press('ControlOrMeta+v');
    const image = page.getByRole('list', { name: 'Attached' }).getByRole('img');
    await image.waitFor();
    const size = await image.evaluate((each) => {
      const { naturalWidth, naturalHeight } = each as unknown as Record<string, number>;
      return [naturalWidth, naturalHeight];
    });
    expect(size).toEqual([1600, 800]);
    expect(await image.getAttribute('src')).toMatch(/^data:image\/jpeg;base64,/);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
