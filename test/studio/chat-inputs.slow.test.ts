import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

/** Puts a picture of one red pixel on the clipboard. */
const COPY_PICTURE = `(async () => {
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext('2d');
  context.fillStyle = 'red';
  context.fillRect(0, 0, 1, 1);
  const blob = await canvas.convertToBlob({ type: 'image/png' });
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
})()`;

describe.runIf(hasStudio)('inputs of the chat of Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['chat']);

  beforeAll(() => readSchemas(studio.origin, ['chat']), PREPARATION_MS);

  const open = (path: string) => openStudio(studio.browser, studio.origin, path);
  const box = (page: Page) => page.getByRole('textbox', { name: /^Message/ });
  const attached = (page: Page) => page.getByRole('list', { name: 'Attached' }).getByRole('listitem');

  /** Sends what was put in, with this text, and returns how the graph received it. */
  async function sent(page: Page, text: string): Promise<unknown> {
    await box(page).fill(text);
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText(`You said: ${text}`).first().waitFor();
    const thread_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { values } = await studio.client.threads.getState<{ messages: { content: unknown }[] }>(thread_id);
    return values.messages[0]?.content;
  }

  /** Drops a file of this machine, as a file manager does. */
  async function drop(page: Page, file: string): Promise<void> {
    const { x, y, width, height } = (await page.getByRole('region', { name: 'Input' }).boundingBox())!;
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [file], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
  }

  test('a pasted image is sent with the message', async () => {
    const { page, problems } = await open('/chat/chat');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await box(page).click();
    await page.evaluate(COPY_PICTURE);
    await page.keyboard.press('ControlOrMeta+v');
    await attached(page).getByRole('img').waitFor();
    expect(await sent(page, 'Look')).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) } },
    ]);
    await page.getByRole('article', { name: 'You' }).getByRole('img').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a dropped file is sent with its name and type, and a large one is refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dropped-'));
    const [notes, large] = [join(folder, 'notes.txt'), join(folder, 'large.bin')];
    await Promise.all([writeFile(notes, 'noted'), writeFile(large, Buffer.alloc(5_000_001))]);
    const { page, problems } = await open('/chat/chat');
    // As the picker says.
    await page.getByRole('button', { name: 'Attach up to 3.1 MB' }).waitFor();
    await drop(page, large);
    await page
      .getByRole('alert')
      .getByText('large.bin is too large: a message has at most 3.1 MB of files.')
      .waitFor();
    await drop(page, notes);
    await attached(page).getByText('notes.txt').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await sent(page, 'Read')).toEqual([
      { type: 'text', text: 'Read' },
      {
        type: 'file',
        source_type: 'base64',
        mime_type: 'text/plain',
        data: Buffer.from('noted').toString('base64'),
        metadata: { filename: 'notes.txt' },
      },
    ]);
    expect(problems).toEqual([]);
    await page.context().close();
    await rm(folder, { recursive: true });
  });

  test('a message is not sent before its files are attached', async () => {
    const { page, problems } = await open('/chat/chat');
    await page.evaluate(`
      const { readAsDataURL } = FileReader.prototype;
      FileReader.prototype.readAsDataURL = function (file) {
        globalThis.readFile = () => readAsDataURL.call(this, file);
      };
    `);
    await page.getByLabel('Files').setInputFiles({
      name: 'notes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('noted'),
    });
    await page.waitForFunction('globalThis.readFile');
    await box(page).fill('Read');
    await page.keyboard.press('Enter');
    await page.getByText('Attaching …').waitFor();
    expect(await page.getByRole('button', { name: /^Send/ }).isDisabled()).toBe(true);
    expect(await box(page).inputValue()).toBe('Read');
    await page.evaluate('globalThis.readFile()');
    await attached(page).getByText('notes.txt').waitFor();
    expect(await sent(page, 'Read')).toMatchObject([
      { type: 'text' },
      { type: 'file', data: Buffer.from('noted').toString('base64') },
    ]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the arrow keys reach earlier messages beyond an image that was sent without text', async () => {
    const { page, problems } = await open('/chat/chat');
    await box(page).fill('Words');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('You said: Words').first().waitFor();
    await page.getByLabel('Files').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from('iVBORw0KGgo=', 'base64'),
    });
    await attached(page).getByRole('img').waitFor();
    await box(page).press('Enter');
    await page.getByRole('article', { name: 'You' }).getByRole('img').waitFor();
    await box(page).press('ArrowUp');
    expect(await box(page).inputValue()).toBe('Words');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a message shows the reasoning of a model, and the arguments and pictures of its tool calls', async () => {
    const { thread_id } = await studio.client.threads.create({ graphId: 'chat' });
    const content = [
      { type: 'reasoning', reasoning: 'It is a question about the weather.' },
      { type: 'text', text: 'I look it up.' },
    ];
    const tool_calls = [{ id: 'call-1', name: 'look_up', args: { city: 'Rome' }, type: 'tool_call' }];
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const picture = [{ type: 'image', source }];
    const result = { type: 'tool', content: picture, tool_call_id: 'call-1', name: 'look_up' };
    const values = { messages: [{ type: 'ai', content, tool_calls }, result] };
    await studio.client.threads.updateState(thread_id, { values, asNode: 'answer' });
    const { page, problems } = await open(`/chat/chat/${thread_id}`);
    const reasoning = page.getByText('It is a question about the weather.');
    await page.getByText('I look it up.').waitFor();
    expect(await reasoning.isVisible()).toBe(false);
    await page.getByText('Reasoning', { exact: true }).click();
    await reasoning.waitFor();
    await page.getByText('look_up', { exact: true }).click();
    const args = page.getByLabel('Arguments of look_up').locator('pre');
    await args.waitFor();
    expect(JSON.parse(await args.innerText())).toEqual({ city: 'Rome' });
    await page.getByRole('img', { name: 'image/png' }).waitFor();
    expect(await page.getByLabel('Result of look_up').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('reasoning and tool calls can be hidden, even after a reload', async () => {
    const { thread_id } = await studio.client.threads.create({ graphId: 'chat' });
    const tool_calls = [{ id: 'call-1', name: 'look_up', args: { city: 'Rome' }, type: 'tool_call' }];
    const content = [
      { type: 'reasoning', reasoning: 'It is sunny.' },
      { type: 'text', text: 'Sunny.' },
    ];
    const messages = [
      { type: 'human', content: 'How is the weather?' },
      { type: 'ai', content: '', tool_calls },
      { type: 'tool', content: '24 degrees', tool_call_id: 'call-1', name: 'look_up' },
      { type: 'system', content: 'Be brief.' },
      { type: 'ai', content },
    ];
    await studio.client.threads.updateState(thread_id, { values: { messages }, asNode: 'answer' });
    const { page } = await open(`/chat/chat/${thread_id}`);
    const said = page.getByText('Sunny.', { exact: true });
    const counts = () =>
      Promise.all(
        [/^look_up$/, /^Reasoning$/, /^system message/].map((text) => page.getByText(text).count()),
      );
    await said.waitFor();
    expect(await counts()).toEqual([1, 1, 1]);
    await page.getByRole('link', { name: 'Messages only' }).press('Enter');
    await expect.poll(counts).toEqual([0, 0, 0]);
    expect(await page.getByRole('article').count()).toBe(2);
    await page.reload();
    await said.waitFor();
    expect(await counts()).toEqual([0, 0, 0]);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show details' }).press('Enter');
    await expect.poll(counts).toEqual([1, 1, 1]);
    await page.context().close();
  });
});
