import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { editMessage, hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const GRAPHS = 'test/fixtures/graphs';

describe.runIf(hasStudio)('the chat of Studio (needs Debian package chromium)', () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      startServer({
        graphs: {
          assistant: 'examples/assistant/graph.ts:graph',
          questions: `${GRAPHS}/questions.ts:graph`,
          'chat-question': `${GRAPHS}/chat-question.ts:graph`,
          chat: `${GRAPHS}/chat.ts:graph`,
          fails: `${GRAPHS}/fails.ts:graph`,
          tokens: `${GRAPHS}/tokens.ts:graph`,
          'parallel-send': `${GRAPHS}/parallel-send.ts:graph`,
        },
        env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
      }),
      openBrowser(),
    ]);
    await readSchemas(server.url, ['assistant', 'chat', 'tokens', 'questions', 'chat-question']);
  }, PREPARATION_MS);

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const opened: string[][] = [];

  async function open(path: string): Promise<Page> {
    const { page, problems } = await openStudio(browser, server.url, `/${path}`);
    opened.push(problems);
    return page;
  }

  afterEach(() => {
    expect(opened.splice(0).flat()).toEqual([]);
  });

  const says = (page: Page, text: string) => page.getByRole('log').getByText(text).first().waitFor();

  async function say(page: Page, text: string): Promise<void> {
    await page.getByRole('textbox', { name: /^Message/ }).fill(text);
    await page.keyboard.press('Enter');
  }

  test('a conversation begins with an assistant, shows the calls of its tools, and is found again', async () => {
    const page = await open('chat');
    await page
      .getByRole('main')
      .getByRole('link', { name: /^assistant/ })
      .click();
    await say(page, 'When is the shop open on Saturday?');
    await says(page, 'opening-hours.md says under');
    await page.getByText('search_notes').click();
    await page.getByLabel('Result of search_notes').getByText('opening-hours.md').first().waitFor();
    expect(await violations(page)).toEqual([]);

    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await page.getByRole('link', { name: /^When is the shop open on Saturday\?/ }).click();
    await says(page, 'opening-hours.md says under');
  });

  test('from a chat to the runs of its thread', async () => {
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.wait(thread_id, 'chat', { input: { messages: ['hi'] } });
    const page = await open(`chat/chat/${thread_id}`);
    await page.getByRole('link', { name: 'Last run' }).waitFor();
    await page.getByRole('link', { name: 'Inspect thread' }).click();
    await page.getByRole('link', { name: 'Runs', exact: true }).last().click();
    await page.getByRole('main').getByRole('link', { name: /^chat/ }).waitFor();
  });

  test('tokens are shown as they come, also after a reload, until the run is stopped', async () => {
    const { thread_id } = await server.client.threads.create();
    const input = { count: 400, token_ms: 25 };
    await server.client.runs.create(thread_id, 'tokens', {
      input,
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    const page = await open(`chat/tokens/${thread_id}`);
    await says(page, 't0 t1 t2');
    await page.reload();
    await says(page, 't0 t1 t2');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });

    const [run] = await server.client.runs.list(thread_id);
    expect(run?.status).toBe('interrupted');
  });

  test('an answer goes on after the server was killed in the middle of it', async () => {
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.create(thread_id, 'tokens', {
      input: { count: 40, token_ms: 25 },
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    const page = await open(`chat/tokens/${thread_id}`);
    await says(page, 't0 t1 t2');
    await server.restart();
    await says(page, 't39');
    await page.getByText('Stop', { exact: true }).waitFor({ state: 'detached' });
    expect(await page.getByRole('article', { name: 'Assistant' }).count()).toBe(1);
  });

  /** The thread of a run that speaks until it is stopped. */
  async function speaking(): Promise<string> {
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.create(thread_id, 'tokens', {
      input: { count: 10_000, token_ms: 25 },
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    return thread_id;
  }

  const isIdle = (page: Page) => page.locator('[role=log][aria-busy=false]').waitFor();

  test('a chat whose stream is refused for a moment shows the answer as it comes', async () => {
    const page = await open('chat');
    let refused = 0;
    await page.route('**/runs/*/stream', (route) =>
      refused++ === 0
        ? route.fulfill({ status: 429, headers: { 'retry-after': '0' }, json: { detail: 'Too many.' } })
        : route.continue(),
    );
    await page.goto(`${server.url}/studio/chat/tokens/${await speaking()}`);
    await says(page, 't0 t1 t2');
    await page.getByRole('button', { name: 'Stop' }).click();
    await isIdle(page);
    expect(refused).toBe(2);
    await page.context().close();
  });

  test('a chat is no longer busy after its run, although the list of runs was refused then', async () => {
    const page = await open(`chat/tokens/${await speaking()}`);
    await says(page, 't0 t1 t2');
    await page.route('**/runs?limit=20&select=*', (route) =>
      route.fulfill({ status: 403, json: { detail: 'Not now.' } }),
    );
    const followed = page.waitForRequest('**/runs/*/stream');
    await page.getByRole('button', { name: 'Stop' }).click();
    await followed;
    await page.unroute('**/runs?limit=20&select=*');
    await isIdle(page);
    await page.context().close();
  });

  test('a message is edited and an answer asked for again; their versions are links', async () => {
    const page = await open('chat/chat');
    await say(page, 'One');
    await says(page, 'You said: One');
    await say(page, 'Two');
    await says(page, 'You said: Two');

    await editMessage(page, 'Two', 'Three');
    await says(page, 'You said: Three');
    await editMessage(page, 'Three', 'Four');
    await says(page, 'You said: Four');
    const versions = page.getByRole('navigation', { name: 'Versions of this message' });
    await versions.getByText('3/3').waitFor();
    expect(await page.getByRole('log').innerText()).not.toMatch(/Two|Three/);

    await versions.getByRole('link', { name: 'Earlier version' }).click();
    await says(page, 'You said: Three');
    await page.reload();
    await says(page, 'You said: Three');
    expect(await page.getByRole('log').innerText()).not.toMatch(/Two|Four/);

    await page.getByRole('article', { name: 'Assistant' }).last().hover();
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await versions.getByText('2/2').waitFor();
    await editMessage(page, 'One', 'Zero');
    await says(page, 'You said: Zero');
    await versions.getByText('2/2').waitFor();
    expect(await page.getByRole('log').innerText()).not.toMatch(/One/);
  });

  test('one message after the other is written without a click, and none is lost that does not arrive', async () => {
    const page = await open('chat/chat');
    const box = page.getByRole('textbox', { name: /^Message/ });
    await box.click();
    for (const text of ['One', 'Two', 'Three']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await says(page, `You said: ${text}`);
    }
    await page.route('**/runs', (route) => route.abort());
    const refused = () => page.waitForEvent('requestfailed', (request) => request.url().endsWith('/runs'));
    await page.getByLabel('Files').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from('iVBORw0KGgo=', 'base64'),
    });
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    await page.keyboard.type('Four');
    await Promise.all([refused(), page.keyboard.press('Enter')]);
    await expect.poll(() => box.inputValue()).toBe('Four');
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    await Promise.all([refused(), editMessage(page, 'Three', 'Five')]);
    await expect.poll(() => page.getByLabel('Edit message').inputValue()).toBe('Five');

    await page.unroute('**/runs');
    await page.getByLabel('Edit message').press('Enter');
    await says(page, 'You said: Five');
    expect(await page.getByLabel('Edit message').count()).toBe(0);
    expect(await box.inputValue()).toBe('Four');
    await page.context().close();
  });

  test('what was said is not said anew where the checkpoints before it were pruned', async () => {
    const { thread_id } = await server.client.threads.create();
    for (const content of ['One', 'Two'])
      await server.client.runs.wait(thread_id, 'chat', { input: { messages: [{ role: 'user', content }] } });
    await server.client.threads.prune([thread_id], { strategy: 'keep_latest' });
    const before = await server.client.threads.getState(thread_id);
    const page = await open(`chat/chat/${thread_id}`);
    await says(page, 'You said: Two');
    await editMessage(page, 'One', 'Zero');
    await page.getByRole('alert').getByText('the checkpoint before it was pruned').waitFor();
    await page.getByRole('article', { name: 'Assistant' }).last().hover();
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await page.getByRole('alert').getByText('the checkpoint before it was pruned').waitFor();
    await isIdle(page);
    expect(await server.client.threads.getState(thread_id)).toEqual(before);
    expect(await server.client.runs.list(thread_id)).toHaveLength(2);
    await page.context().close();
  });

  test('a run stops at a breakpoint, shows its state, and goes on, by keyboard', async () => {
    const page = await open('chat/chat');
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

  test('three questions in a row are answered, each in a form of its own', async () => {
    const page = await open('chat/questions');
    await say(page, 'A trip, please');
    await page.getByLabel(/^Answer/).fill('Ada');
    await page.getByText('is sent as text').waitFor();
    await page.getByRole('button', { name: 'Answer' }).click();

    await page.getByLabel('City').fill('Rome');
    await page.getByLabel('Nights').fill('two');
    await page.getByLabel('Class').selectOption('second');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('Write a number.').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Nights').fill('2');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();

    await page.getByLabel('Hotel').fill('Sacher');
    await page.getByRole('button', { name: 'Approve' }).click();
    const booked = [{ type: 'edit', args: { action: 'book', args: { hotel: 'Sacher' } } }];
    const trip = { city: 'Rome', nights: 2, class: 'second', breakfast: false };
    await says(page, JSON.stringify({ name: 'Ada', trip, booked }));
  });

  test('two questions at once are answered one by one; the input of the graph is a form', async () => {
    const page = await open('chat/parallel-send');
    await page.getByLabel('Items').fill('[2, 3]');
    await page.getByLabel('Ask').check();
    await page.getByRole('button', { name: /^Run/ }).click();
    const questions = page.getByRole('region', { name: 'Question of the agent' });
    await questions.nth(1).waitFor();
    await questions
      .filter({ hasText: '{"factor_for":3}' })
      .getByLabel(/^Answer/)
      .fill('10');
    await page.keyboard.press('Enter');
    await questions.nth(1).waitFor({ state: 'detached' });
    await questions.getByLabel(/^Answer/).fill('1');
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'squares' }).getByText('[4,90]').waitFor();
  });

  test('a graph that takes more than messages has a form, and one that fails says why', async () => {
    const page = await open('chat/tokens');
    await page.getByRole('button', { name: 'All fields' }).click();
    await page.getByLabel('Count').fill('3');
    await page.getByRole('button', { name: /^Run/ }).click();
    await says(page, 't0 t1 t2');

    await page.goto(`${server.url}/studio/chat/fails`);
    await page.getByRole('button', { name: 'As JSON' }).click();
    await page.getByLabel('Input as JSON').fill('{"x": 7');
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByText('This is no JSON').waitFor();
    await page.getByLabel('Input as JSON').fill('{"x": 7}');
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByRole('alert').getByText('boom 7').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await until('the run is tried again', async () => {
      const thread_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      return (await server.client.runs.list(thread_id)).length === 2;
    });
    await page.getByRole('alert').getByText('boom 7').waitFor();
  });

  test('what one thread asks is not shown in another', async () => {
    const page = await open('chat/chat-question');
    await say(page, 'First');
    const question = page.getByRole('region', { name: 'Question of the agent' });
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

  test('links in answers are safe, and HTML in them is text', async () => {
    const page = await open('chat/chat');
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await say(page, '<img src=x onerror=alert(1)> [here](javascript:alert(2)) [there](https://example.com)');
    await says(page, 'You said: <img src=x onerror=alert(1)>');
    const links = await page.getByRole('article', { name: 'Assistant' }).getByRole('link').all();
    const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect(hrefs).toEqual(['', 'https://example.com']);
    expect(dialogs).toEqual([]);
  });

  test('an image is chosen, earlier messages come back, and what is sent is what was shown', async () => {
    const page = await open('chat/chat');
    await page.getByLabel('Files').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from('iVBORw0KGgo=', 'base64'),
    });
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    await say(page, 'Look');
    await says(page, 'You said: Look');
    await page.getByRole('textbox', { name: /^Message/ }).press('ArrowUp');
    expect(await page.getByRole('textbox', { name: /^Message/ }).inputValue()).toBe('Look');

    const thread_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { values } = await server.client.threads.getState<{ messages: { content: unknown }[] }>(thread_id);
    expect(values.messages[0]?.content).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ]);
  });
});
