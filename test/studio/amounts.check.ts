import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { type Receiver, receiver, TO_RECEIVER } from '../support/receiver.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { addresses, loaded, screenPaths } from '../support/studio-screens.ts';
import { signIn } from '../support/studio-sign-in.ts';

/** What a screen says when there is nothing to show; screens of one thing, that there is no such thing. */
const NOTHING: Readonly<Record<string, RegExp>> = {
  '/': /No assistants/,
  '/chat': /No assistants/,
  '/chat/$assistantId': /not found/i,
  '/chat/$assistantId/$threadId': /not found/i,
  '/graphs': /No graphs/,
  '/graphs/$assistantId': /not found/i,
  '/runs': /No runs yet/,
  '/runs/$runId': /not found/i,
  '/compare': /Choose two runs/,
  '/threads': /No threads yet/,
  '/threads/$threadId': /not found/i,
  '/inbox': /All caught up/,
  '/assistants': /No assistants/,
  '/assistants/$assistantId': /not found/i,
  '/store': /No items/,
  '/crons': /No crons yet/,
  '/crons/$cronId': /not found/i,
  '/webhooks': /No deliveries yet/,
  '/webhooks/$deliveryId': /not found/i,
  '/deployments': /No deployments on this server/,
  '/deployments/$deploymentId': /No deployments on this server/,
  '/keys': /No keys yet/,
  '/usage': /No model has been called yet/,
  '/system': /Processes/,
  '/connect': /No assistants/,
};

describe.runIf(hasStudio)('an empty server in Studio (needs Chromium and a build of Studio)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    [http, browser] = await Promise.all([openApp({ graphs: [] }), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  test('shows on each screen what is missing', async () => {
    expect(Object.keys(NOTHING).sort()).toEqual(screenPaths());
    const { page, problems } = await openStudio(browser, origin, '');
    const id = randomUUID();
    const ids = ['assistant_id', 'thread_id', 'run_id', 'cron_id', 'delivery_id', 'deployment_id'] as const;
    const missing = Object.fromEntries(ids.map((name) => [name, id])) as Record<(typeof ids)[number], string>;
    for (const [screen, address] of Object.entries(addresses(missing))) {
      await page.goto(`${origin}/studio${address}`);
      await loaded(page);
      const text = page
        .getByRole('main')
        .getByText(NOTHING[screen] as RegExp)
        .first();
      await expect.poll(() => text.count(), { message: screen }).toBe(1);
    }
    expect(problems).toEqual([]);
  });
});

const OPERATOR = 'an-operator';
const AMOUNT = 120;

describe.runIf(hasStudio)(
  'a server with many rows of each kind in Studio (needs Chromium and a build of Studio)',
  () => {
    let http: Awaited<ReturnType<typeof openApp>>;
    let hook: Receiver;
    let browser: Browser;
    let origin: string;
    const operator = { 'x-api-key': OPERATOR };

    beforeAll(async () => {
      const environment = { ...TO_RECEIVER, AGENT_SERVER_API_KEYS: OPERATOR };
      [http, hook, browser] = await Promise.all([
        openApp({ graphs: ['echo', 'interrupting'], environment }),
        receiver(),
        openBrowser(),
      ]);
      origin = new URL((await http.app.listen()).url).origin;
      for (let n = 0; n < AMOUNT; n++) {
        const { thread_id } = (await http.post('/threads', { metadata: { title: `Thread ${n}` } }, operator))
          .body;
        const run = { assistant_id: 'interrupting', input: { x: n } };
        await http.post(`/threads/${thread_id}/runs/wait`, run, operator);
        await http.post('/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *', input: {} }, operator);
        await http.send(
          'PUT',
          '/store/items',
          { namespace: ['many'], key: `key-${n}`, value: { n } },
          operator,
        );
        await http.post('/webhooks/test', { url: `${hook.url}/${n}` }, operator);
        await http.post('/assistants', { graph_id: 'echo', name: `Assistant ${n}` }, operator);
        await http.post('/keys', { name: `key ${n}`, scope: 'read' }, operator);
      }
    });

    afterAll(async () => {
      await browser?.close();
      await http?.[Symbol.asyncDispose]();
      await hook?.[Symbol.asyncDispose]();
    });

    test.each([
      ['/threads', 'Show older threads'],
      ['/runs', 'Show older runs'],
      ['/crons', 'Show more crons'],
      ['/webhooks', 'Show older deliveries'],
      ['/store', 'Show more items'],
    ])('%s shows a page of rows, and more on request', async (path, more) => {
      const { page, problems } = await openStudio(browser, origin, path);
      await signIn(page, OPERATOR);
      const rows = page.locator('main tbody tr');
      const button = page.getByRole('button', { name: more });
      await button.waitFor();
      expect(await rows.count()).toBeLessThanOrEqual(AMOUNT - 20);
      while ((await button.count()) > 0) {
        const before = await rows.count();
        await button.press('Enter');
        await expect.poll(() => rows.count()).toBeGreaterThan(before);
      }
      expect(await rows.count()).toBe(AMOUNT);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('with a read key, no screen requests anything that the key may not see', async () => {
      const { key } = (await http.post('/keys', { name: 'reader', scope: 'read' }, operator)).body;
      const search = async (path: string) => (await http.post(path, { limit: 1 }, operator)).body[0];
      const { run_id, thread_id } = await search('/runs/search');
      const { assistant_id } = await search('/assistants/search');
      const { cron_id } = await search('/runs/crons/search');
      const [{ delivery_id }] = (await http.get('/webhooks/deliveries?limit=1', operator)).body;
      const { page, problems } = await openStudio(browser, origin, '');
      await signIn(page, key);
      const refused: string[] = [];
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      });
      // This server has no deployments.
      const shown = { run_id, thread_id, assistant_id, cron_id, delivery_id, deployment_id: randomUUID() };
      for (const address of Object.values(addresses(shown))) {
        await page.goto(`${origin}/studio${address}`);
        await loaded(page);
        expect(await page.getByRole('alert').allInnerTexts(), address).toEqual([]);
      }
      expect(refused).toEqual([]);
      expect(problems).toEqual([]);
    });
  },
);
