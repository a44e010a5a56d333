import { describe, expect, test } from 'vitest';
import { isIdle, says, useStudioChat } from '../support/studio-chat.ts';
import { hasStudio } from '../support/studio-page.ts';

describe.runIf(hasStudio)('answers in a chat of Studio as they come (needs Debian package chromium)', () => {
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
    const input = { count: 400, token_ms: 25 };
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

  test('an answer goes on after the server was killed in the middle of it', async () => {
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
