import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { HOSTILE_SERVER, type HostileIds, OPERATOR, plantHostileTexts } from '../support/hostile-texts.ts';
import { type Receiver, receiver } from '../support/receiver.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { loaded, screenPaths } from '../support/studio-screens.ts';
import { signIn } from '../support/studio-sign-in.ts';
import { PAYLOADS } from '../support/xss-payloads.ts';

const [first = '', , third = ''] = PAYLOADS.map(encodeURIComponent);
/** Every text in one parameter of the address. */
const ALL = encodeURIComponent(PAYLOADS.join('\n'));

/** Views of each screen that show what others wrote, and addresses that were made by others. */
function views(ids: HostileIds): Record<string, readonly string[]> {
  const run = `/runs/${ids.run_id}`;
  const thread = `/threads/${ids.thread_id}`;
  return {
    '/': ['', `/${first}`, `/${third}/${first}`],
    '/chat': ['/chat'],
    '/chat/$assistantId': [`/chat/${ids.assistant_id}`, `/chat/${third}`],
    '/chat/$assistantId/$threadId': [
      `/chat/${ids.assistant_id}/${ids.thread_id}`,
      `/chat/hostile/${ids.waiting_id}`,
      `/chat/hostile/${third}`,
    ],
    '/graphs': ['/graphs'],
    '/graphs/$assistantId': [`/graphs/hostile?run=${ids.run_id}&node=${first}`, `/graphs/${third}`],
    '/runs': ['/runs', `/runs?error=${ALL}`],
    '/runs/$runId': [
      run,
      ...['flame', 'graph', 'events', 'input', 'logs', 'explain'].map((tab) => `${run}?tab=${tab}`),
      `${run}?tab=events&event=3&q=${third}`,
      `/runs/${ids.failed_id}`,
      `/runs/${third}`,
    ],
    '/compare': [
      `/compare?left=${ids.run_id}&right=${ids.failed_id}`,
      `/compare?left=${third}&right=${first}&step=${third}`,
    ],
    '/threads': ['/threads', `/threads?find=${ALL}&metadata=${third}`],
    '/threads/$threadId': [
      thread,
      ...['runs', 'state', 'metadata', 'storage'].map((tab) => `${thread}?tab=${tab}`),
      `/threads/${ids.waiting_id}`,
      `/threads/${third}`,
    ],
    '/inbox': ['/inbox'],
    '/assistants': ['/assistants'],
    '/assistants/$assistantId': [
      `/assistants/${ids.assistant_id}`,
      `/assistants/${ids.assistant_id}?tab=versions`,
      `/assistants/${third}`,
    ],
    '/store': [
      '/store',
      `/store?namespace=${third}`,
      `/store?item=texts&key=${third}`,
      `/store?query=${ALL}`,
    ],
    '/crons': ['/crons'],
    '/crons/$cronId': [`/crons/${ids.cron_id}`, `/crons/${third}`],
    '/webhooks': ['/webhooks', `/webhooks?url=${ALL}`],
    '/webhooks/$deliveryId': [`/webhooks/${ids.delivery_id}`, `/webhooks/${third}`],
    '/deployments': ['/deployments'],
    '/deployments/$deploymentId': [
      `/deployments/${ids.deployment_id}`,
      `/deployments/${ids.deployment_id}?revision=${third}&tab=${third}`,
      `/deployments/${third}`,
    ],
    '/keys': ['/keys'],
    '/usage': [
      ...['assistant', 'model', 'user', 'key'].map((tab) => `/usage?tab=${tab}`),
      `/usage?tab=${third}&days=${third}&assistant=${third}&model=${ALL}`,
    ],
    '/system': ['/system'],
    '/connect': ['/connect', `/connect?assistant=${ids.assistant_id}&tab=python`, `/connect?tab=${third}`],
  };
}

/** Elements that a page of text has none of, and attributes that could run. */
const FOREIGN = `[...document.querySelectorAll('body *')].flatMap((one) => [
  ...(/^(script|iframe|object|embed|base|meta|link|style|math|template|animate|video)$/i.test(one.localName) &&
  !one.matches('body > script[type=module][src]') ? [one.outerHTML] : []),
  ...[...one.attributes].filter(({ name, value }) =>
    /^(on|srcdoc)/.test(name) ||
    (/^[a-z:]*(href|src|action|data)$/.test(name) && /^\\s*(java|vb)script:/i.test(value)) ||
    (/(href|src)$/.test(name) && /^\\s*data:(?!image)/i.test(value) && !one.hasAttribute('download')),
  ).map(({ name, value }) => name + '=' + value),
])`;

/** What scrolls sideways: not a table, code, or a row of links, which may. */
const WIDE = `[...document.querySelectorAll('html, main, main *, dialog *')].flatMap((one) => {
  const scrolls = one.matches('html') || /auto|scroll/.test(getComputedStyle(one).overflowX);
  const may = one.matches('pre, nav, [tabindex="0"]:has(> table), .cm-scroller');
  return scrolls && !may && one.scrollWidth > one.clientWidth + 1 ? [one.outerHTML.slice(0, 200)] : [];
})`;

/** A response in which each of the texts is a word of 200 characters. */
function withLongWords(json: string): string {
  return PAYLOADS.reduce(
    (text, payload, n) =>
      text.replaceAll(JSON.stringify(payload).slice(1, -1), `word-${n}-`.padEnd(200, 'x')),
    json,
  );
}

describe.runIf(hasStudio)('texts that try to run in Studio (needs Chromium and a build of Studio)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let hook: Receiver;
  let browser: Browser;
  let origin: string;
  let ids: HostileIds;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    [http, hook, browser] = await Promise.all([openApp(HOSTILE_SERVER), receiver(), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
    ids = await plantHostileTexts(http, hook);
    ({ page, problems } = await openStudio(browser, origin, ''));
    await signIn(page, OPERATOR);
    page.on('dialog', (dialog) => {
      problems.push(`runs ${dialog.message()} at ${page.url()}`);
      void dialog.dismiss();
    });
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
    await hook?.[Symbol.asyncDispose]();
  });

  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });

  /** What a view shows, everything that can be opened being open. */
  async function visit(path: string): Promise<string> {
    await page.goto(`${origin}/studio${path}`);
    await loaded(page);
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    expect(await page.evaluate(FOREIGN), path).toEqual([]);
    return page.evaluate<string>(
      `document.body.innerText + [...document.querySelectorAll('input, textarea')].map((one) => one.value)`,
    );
  }

  test('are tested on every screen', () => {
    expect(Object.keys(views(ids)).sort()).toEqual(screenPaths());
  });

  test.each(screenPaths())('are shown as text by %s: none executes or loads anything', async (screen) => {
    for (const path of views(ids)[screen] ?? []) await visit(path);
  });

  test.each(screenPaths())(
    'do not widen %s on a telephone if they are long words instead',
    async (screen) => {
      await page.setViewportSize({ width: 320, height: 640 });
      const isJson = ({ pathname }: URL) => !/^\/(studio\/|system\/changes|favicon)|stream/.test(pathname);
      await page.route(isJson, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: withLongWords(await response.text()) });
      });
      for (const path of views(ids)[screen] ?? []) {
        await visit(path);
        expect({ path, wide: await page.evaluate(WIDE) }).toEqual({ path, wide: [] });
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.setViewportSize({ width: 1440, height: 900 });
    },
  );

  test('are shown literally in lists, logs, errors and states', async () => {
    for (const path of [
      '/threads',
      `/runs/${ids.run_id}?tab=logs`,
      '/runs',
      '/keys',
      '/store',
      '/assistants',
    ]) {
      const text = await visit(path);
      const shown = PAYLOADS.filter(
        (payload) => text.includes(payload.replaceAll('\n', ' ')) || text.includes(payload),
      );
      expect({ path, missing: PAYLOADS.filter((payload) => !shown.includes(payload)) }).toEqual({
        path,
        missing: [],
      });
    }
  });
});
