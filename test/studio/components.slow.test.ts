import { resolve } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { closedGate } from '../support/gate.ts';
import { hasStudio, openStudio, PREPARATION_MS } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const folder = resolve(import.meta.dirname, '../fixtures/components');

const ORDER = `[...document.querySelectorAll('[role=log] article, [role=log] [role=group]')].map((each) =>
  each.localName === 'article' ? each.innerText.split('\\n')[0] : each.ariaLabel,
)`;

describe.runIf(hasStudio)(
  'components of graphs in the chat of Studio (needs Debian package chromium)',
  () => {
    let http: Awaited<ReturnType<typeof openApp>>;
    let browser: Browser;
    let origin: string;
    let client: Client;

    beforeAll(async () => {
      [http, browser] = await Promise.all([openApp({ graphs: ['cards', 'bare'], folder }), openBrowser()]);
      origin = new URL((await http.app.listen()).url).origin;
      client = new Client({ apiUrl: origin });
    }, PREPARATION_MS);

    afterAll(async () => {
      await browser?.close();
      await http?.[Symbol.asyncDispose]();
    });

    /** A thread in which these were said, one after the other. */
    async function threadOf(texts: readonly string[], graph = 'cards'): Promise<string> {
      const { thread_id } = await client.threads.create();
      for (const content of texts) {
        await client.runs.wait(thread_id, graph, { input: { messages: [{ type: 'human', content }] } });
      }
      return thread_id;
    }

    const open = (thread_id: string, graph = 'cards') =>
      openStudio(browser, origin, `/chat/${graph}/${thread_id}`);
    const component = (page: Page, name: string) => page.getByRole('group', { name: `Component ${name}` });
    const frame = (page: Page, name: string) => page.frameLocator(`iframe[title="Component ${name}"]`);

    async function say(page: Page, text: string): Promise<void> {
      await page.getByRole('textbox', { name: /^Message/ }).fill(text);
      await page.keyboard.press('Enter');
    }

    /**
     * What axe finds. It copies style sheets of shadow roots into documents of its own, which the policy of the frame counts:
     * what was wrong before is expected to be nothing, and what is then is axe's.
     */
    async function accessibilityProblems(page: Page, problems: string[]): Promise<string[]> {
      expect(problems).toEqual([]);
      const found = await violations(page);
      problems.length = 0;
      return found;
    }

    /** What the conversation has, in its order: texts of messages and names of components. */
    const order = (page: Page) => page.evaluate<string[]>(ORDER);

    test('a component is rendered below its message, updates while it streams, keeps its state, and is removed', async () => {
      using first = closedGate();
      using second = closedGate();
      const { page, problems } = await open(await threadOf(['hello there']));
      await say(page, `grow ${first.folder} ${second.folder}`);
      const card = frame(page, 'progress');
      await card.getByText('Growing: 0 done').waitFor();
      await card.getByRole('button', { name: '0 clicks' }).click();
      await card.getByRole('button', { name: '1 clicks' }).waitFor();

      first.open();
      await card.getByText('Growing: 1 done').waitFor();
      await card.getByRole('button', { name: '1 clicks' }).waitFor();
      second.open();
      await card.getByText('Growing: 2 done').waitFor();
      await page.getByText('You said grow').waitFor();
      await card.getByRole('button', { name: '1 clicks' }).waitFor();
      expect((await order(page)).slice(-2)).toEqual([`You said grow ${first.folder}`, 'Component progress']);
      expect(await accessibilityProblems(page, problems)).toEqual([]);

      await page.reload();
      await card.getByText('Growing: 2 done').waitFor();
      await say(page, 'remove all');
      await page.getByText('You said remove all').waitFor();
      await component(page, 'progress').waitFor({ state: 'detached' });
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('a component without a message is at the end of the conversation', async () => {
      const { page, problems } = await open(await threadOf(['hello there']));
      await say(page, 'apart progress {"title":"Apart","done":3}');
      await frame(page, 'progress').getByText('Apart: 3 done').waitFor();
      await page.getByText('You said apart progress').waitFor();
      await say(page, 'and then');
      await page.getByText('You said and then').waitFor();
      expect((await order(page)).slice(-4)).toEqual([
        'You said apart progress',
        'and then',
        'You said and then',
        'Component progress',
      ]);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('a component has the height of its content, up to a limit, and the theme of the page', async () => {
      const { page } = await open(await threadOf(['show progress {"title":"Low","done":1,"height":100}']));
      const element = page.locator('iframe');
      await frame(page, 'progress').getByText('Low: 1 done').waitFor();
      await until('the frame has its height', async () => (await element.boundingBox())?.height === 126);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        await frame(page, 'progress').locator(`html[data-theme=${colorScheme}]`).waitFor();
      }
      await say(page, 'show progress {"title":"High","done":1,"height":5000}');
      await frame(page, 'progress').last().getByText('High: 1 done').waitFor();
      await until(
        'the frame has its height',
        async () => (await element.last().boundingBox())?.height === 600,
      );
      await page.context().close();
    });

    test('a component can start a run only after a click in it', async () => {
      const thread_id = await threadOf([
        'show ask {"text":"hello from a card"}',
        'show pushy {"text":"unasked"}',
      ]);
      const { page, problems } = await open(thread_id);
      await component(page, 'pushy')
        .getByText(/^Nothing happened: a component can start/)
        .waitFor();
      await frame(page, 'ask').getByText('4 in the state, 4 in the chat, of a run').waitFor();
      await frame(page, 'ask').getByRole('button', { name: 'Ask' }).click();
      await page.getByText('You said hello from').waitFor();
      await frame(page, 'ask').getByText('6 in the state, 6 in the chat, of a run').waitFor();

      expect(await client.runs.list(thread_id)).toHaveLength(3);
      expect(await accessibilityProblems(page, problems)).toEqual([]);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test.for(['mouse', 'key'] as const)(
      'one use of a %s starts one run, even if the component reports several',
      async (way) => {
        const thread_id = await threadOf(['show eager {"text":"hello once"}']);
        const { page } = await open(thread_id);
        const button = frame(page, 'eager').getByRole('button', { name: 'Ask often' });
        if (way === 'mouse') await button.hover();
        else await button.focus();
        const press = () => (way === 'mouse' ? page.mouse.down() : page.keyboard.down('Enter'));
        await press();
        await page.getByText('You said hello once').waitFor();
        // Then nothing but the use being spent refuses another run.
        await page.locator('[role=log][aria-busy=false]').waitFor();
        await (way === 'mouse' ? page.mouse.up() : press());
        await component(page, 'eager')
          .getByText(/^Nothing happened: a component can start/)
          .waitFor();
        // What the component sent would have arrived before.
        await say(page, 'so far');
        await page.getByText('You said so far').waitFor();
        expect(await client.runs.list(thread_id)).toHaveLength(3);
        await page.context().close();
      },
    );

    test('a hostile component reaches neither the page, the server nor another host', async () => {
      const thread_id = await threadOf(['show hostile', 'show progress {"title":"Beside","done":1}']);
      const { page, problems } = await open(thread_id);
      const log: string[] = [];
      page.on('dialog', (dialog) => {
        log.push(`shows ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.context().on('page', (popup) => log.push(`opens ${popup.url()}`));
      page.on('requestfinished', (request) => log.push(`asks ${request.url()}`));
      await page.addInitScript(`if (top === window) document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.violated = event.violatedDirective;
    })`);
      await page.reload();
      // A click elsewhere in the page gives the component no right.
      await page.getByRole('textbox', { name: /^Message/ }).click();

      await frame(page, 'hostile').getByText('Has tried everything').waitFor();
      const results = await frame(page, 'hostile').getByRole('listitem').allInnerTexts();
      expect(results.filter((result) => !result.endsWith(': no'))).toEqual([]);
      expect(results).toHaveLength(23);
      await frame(page, 'progress').getByText('Beside: 1 done').waitFor();
      // What the component sent would have arrived before.
      await say(page, 'so far');
      await page.getByText('You said so far').waitFor();
      expect(await client.runs.list(thread_id)).toHaveLength(3);
      expect(new URL(page.url()).pathname).toBe(`/studio/chat/cards/${thread_id}`);
      expect(await page.evaluate('globalThis.violated')).toBeUndefined();
      expect(log.filter((line) => /elsewhere|shows|opens|\/info/.test(line))).toEqual([]);
      const own = /content security policy|^asks https:\/\/elsewhere.example\/\w\.(js|png)$/i;
      expect(problems.splice(0).filter((problem) => !own.test(problem))).toEqual([]);
      await page.context().close();
    });

    test('a component that navigates away is removed', async () => {
      const { page, problems } = await open(await threadOf(['show leaves {"to":"/docs"}']));
      await component(page, 'leaves').getByText('It navigated to another page.').waitFor();
      expect(await page.locator('iframe').count()).toBe(0);
      await page.context().close();
      // The other page is not one of Studio.
      problems.length = 0;
    });

    test('a component that is missing, throws or hangs is shown with its props, and the chat continues', async () => {
      const { page, problems } = await open(
        await threadOf([
          'show nowhere {"city":"Rome"}',
          'show throws {"city":"Oslo"}',
          'show waits {"city":"Bern"}',
        ]),
      );
      await component(page, 'nowhere')
        .getByText(/is not shown: There is no component "nowhere", only: progress/)
        .waitFor();
      await component(page, 'throws').getByText('is not shown: there is no city').waitFor();
      await component(page, 'waits').getByText('is not shown: It did not respond for 10 seconds.').waitFor();
      for (const [name, city] of [
        ['nowhere', 'Rome'],
        ['throws', 'Oslo'],
        ['waits', 'Bern'],
      ] as const) {
        await page.getByLabel(`Props of ${name}`).getByText(`"city": "${city}"`).waitFor();
      }
      expect(await accessibilityProblems(page, problems)).toEqual([]);
      await say(page, 'show progress {"title":"After","done":1}');
      await frame(page, 'progress').getByText('After: 1 done').waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('a component that blocks its event loop blocks neither the page nor the chat', async () => {
      const { page, problems } = await open(await threadOf(['show blocks {"city":"Rome"}']));
      await component(page, 'blocks').getByText('is not shown: It did not respond for 10 seconds.').waitFor();
      await say(page, 'show progress {"title":"After","done":1}');
      await frame(page, 'progress').getByText('After: 1 done').waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('a component of a graph without components on this server is shown as missing', async () => {
      const { page, problems } = await open(await threadOf(['show progress {"title":"No"}'], 'bare'), 'bare');
      await component(page, 'progress')
        .getByText(/is not shown: UI 'bare' not found/)
        .waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('of many components, only those near the visible part have frames', async () => {
      const { page, problems } = await open(await threadOf(['many 60']));
      await frame(page, 'progress').last().getByText('Card 59:').waitFor();
      await until('those far away have no frame', async () => (await page.locator('iframe').count()) < 40);
      await page.evaluate(`document.querySelector('[role=log]').scrollTo(0, 0)`);
      await frame(page, 'progress').first().getByText('Card 0:').waitFor();
      expect(await page.locator('iframe').count()).toBeLessThan(40);
      expect(problems).toEqual([]);
      await page.context().close();
    });
  },
);
