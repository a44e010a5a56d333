import type { Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { isIdle, say, says, useStudioChat } from '../support/studio-chat.ts';
import { hasStudio } from '../support/studio-page.ts';

describe.runIf(hasStudio)('streamed answers in a chat of Studio (needs Debian package chromium)', () => {
  const chat = useStudioChat(['tokens']);

  /** The thread of a run that speaks until it is stopped. */
  async function speaking(): Promise<string> {
    const { thread_id } = await chat.server.client.threads.create();
    await chat.server.client.runs.create(thread_id, 'tokens', {
      input: { count: 10_000, token_ms: 25 },
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    return thread_id;
  }

  test('tokens are shown as they come, also after a reload, until the run is stopped', async () => {
    const { thread_id } = await chat.server.client.threads.create();
    const input = { count: 10_000, token_ms: 25 };
    await chat.server.client.runs.create(thread_id, 'tokens', {
      input,
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    const page = await chat.open(`chat/tokens/${thread_id}`);
    await says(page, 't0 t1 t2');
    await page.reload();
    await says(page, 't0 t1 t2');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });

    const [run] = await chat.server.client.runs.list(thread_id);
    expect(run?.status).toBe('interrupted');
  });

  test('a message ends the active run, or waits for it and is then not ended', async () => {
    const thread_id = await speaking();
    const page = await chat.open(`chat/tokens/${thread_id}`);
    const { runs, threads } = chat.server.client;
    const eventually = (read: () => Promise<unknown[]>, expected: string[]) =>
      expect.poll(read).toEqual(expected);
    const statuses = (...expected: string[]) =>
      eventually(async () => (await runs.list(thread_id)).map(({ status }) => status), expected);
    const isStored = (...expected: string[]) =>
      eventually(async () => {
        const { values } = await threads.getState<{ messages?: { content: string }[] }>(thread_id);
        return (values.messages ?? []).map(({ content }) => content);
      }, expected);
    const sendNow = page.getByRole('button', { name: /^Send now/ });
    await says(page, 't0 t1 t2');
    await page.getByRole('textbox', { name: /^Message/ }).fill('In French');
    await sendNow.click();
    await statuses('running', 'interrupted');
    await says(page, 'In French');
    await isStored('In French');

    await page.getByRole('textbox', { name: /^Message/ }).fill('And shorter');
    await sendNow.and(page.locator(':enabled')).waitFor();
    await page.keyboard.press('Control+Enter');
    await statuses('running', 'interrupted', 'interrupted');
    await isStored('In French', 'And shorter');
    await say(page, 'Thanks');
    await statuses('pending', 'running', 'interrupted', 'interrupted');
    await sendNow.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Stop' }).click();
    await isStored('In French', 'And shorter', 'Thanks');
    await sendNow.waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await isIdle(page);
    await page.context().close();
  });

  test('a stop that arrives after the end of its run leaves no error', async () => {
    const thread_id = await speaking();
    const page = await chat.open(`chat/tokens/${thread_id}`);
    const { runs } = chat.server.client;
    await says(page, 't0 t1 t2');
    const stopping = Promise.withResolvers<Route>();
    await page.route('**/cancel', (route) => stopping.resolve(route), { times: 1 });
    await page.getByRole('button', { name: 'Stop' }).click();
    const late = await stopping.promise;
    const [run] = await runs.list(thread_id);
    await runs.cancel(thread_id, run?.run_id ?? '', true);
    const stopped = page.waitForResponse('**/cancel');
    await late.continue();
    expect((await stopped).status()).toBe(404);
    await isIdle(page);
    await say(page, 'Again');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    // What ended the second run may be shown.
    expect(await page.getByRole('alert').filter({ hasNotText: 'UserInterrupt' }).count()).toBe(0);
    await page.context().close();
  });

  test('on a small screen, the actions during an answer are inside the message field', async () => {
    const page = await chat.open('chat');
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(`${chat.server.url}/studio/chat/tokens/${await speaking()}`);
    await page.getByRole('button', { name: /^Send now/ }).waitFor();
    const overflow = `(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth)(
      document.querySelector('section[aria-label=Input]'))`;
    expect(await page.evaluate(overflow)).toBe(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await isIdle(page);
    await page.context().close();
  });

  test('without streaming an answer is shown when its run has ended, and its models are not asked to stream', async () => {
    const page = await chat.open('chat/tokens');
    await page.getByRole('checkbox', { name: 'Streaming' }).uncheck();
    await page.getByRole('button', { name: 'All fields' }).click();
    await page.getByLabel('Count').fill('30');
    await page.getByLabel('Token ms').fill('20');
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.waitForURL(/stream=off/);
    await page.waitForURL(/\/chat\/[^/]+\/[0-9a-f-]{36}\?/);
    await page.getByRole('log').waitFor();
    await page.evaluate(`
      window.partial = [];
      const log = document.querySelector('[role=log]');
      new MutationObserver(() => {
        if (log.textContent.includes('t0') && !log.textContent.includes('t29')) partial.push(log.textContent);
      }).observe(log, { subtree: true, childList: true, characterData: true });
    `);
    await says(page, 't29');
    expect(await page.evaluate('partial')).toEqual([]);
    expect(await page.getByRole('checkbox', { name: 'Streaming' }).isChecked()).toBe(false);

    const thread_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const [run] = await chat.server.client.runs.list(thread_id);
    expect(run).toMatchObject({ kwargs: { stream_mode: ['updates'] } });
    await page.getByRole('checkbox', { name: 'Streaming' }).check();
    expect(new URL(page.url()).searchParams.has('stream')).toBe(false);
    await page.context().close();
  });

  test('an answer continues after the server was killed in the middle of it', async () => {
    const { thread_id } = await chat.server.client.threads.create();
    await chat.server.client.runs.create(thread_id, 'tokens', {
      input: { count: 40, token_ms: 25 },
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    const page = await chat.open(`chat/tokens/${thread_id}`);
    await says(page, 't0 t1 t2');
    await chat.server.restart();
    await says(page, 't39');
    await page.getByText('Stop', { exact: true }).waitFor({ state: 'detached' });
    expect(await page.getByRole('article', { name: 'Assistant' }).count()).toBe(1);
  });

  test('a chat whose stream is refused for a moment shows the answer as it comes', async () => {
    const page = await chat.open('chat');
    let refused = 0;
    await page.route('**/runs/*/stream', (route) =>
      refused++ === 0
        ? route.fulfill({ status: 429, headers: { 'retry-after': '0' }, json: { detail: 'Too many.' } })
        : route.continue(),
    );
    await page.goto(`${chat.server.url}/studio/chat/tokens/${await speaking()}`);
    await says(page, 't0 t1 t2');
    await page.getByRole('button', { name: 'Stop' }).click();
    await isIdle(page);
    expect(refused).toBe(2);
    await page.context().close();
  });

  test('a chat is no longer busy after its run, although the list of runs was refused then', async () => {
    const page = await chat.open(`chat/tokens/${await speaking()}`);
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
});
