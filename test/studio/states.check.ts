import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { HOSTILE_SERVER, type HostileIds, OPERATOR, plantHostileTexts } from '../support/hostile-texts.ts';
import { unreached } from '../support/keyboard.ts';
import { type Receiver, receiver } from '../support/receiver.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { addresses, loaded, screenPaths } from '../support/studio-screens.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)(
  'the states of each screen of Studio (needs Chromium and a build of Studio)',
  () => {
    let http: Awaited<ReturnType<typeof openApp>>;
    let hook: Receiver;
    let browser: Browser;
    let origin: string;
    let ids: HostileIds;
    let page: Page;
    let problems: readonly string[];

    beforeAll(async () => {
      [http, hook, browser] = await Promise.all([openApp(HOSTILE_SERVER), receiver(), openBrowser()]);
      origin = new URL((await http.app.listen()).url).origin;
      ids = await plantHostileTexts(http, hook);
      ({ page, problems } = await openStudio(browser, origin, ''));
      await signIn(page, OPERATOR);
    });

    afterEach(() => expect(problems).toEqual([]));

    afterAll(async () => {
      await browser?.close();
      await http?.[Symbol.asyncDispose]();
      await hook?.[Symbol.asyncDispose]();
    });

    const isData = ({ pathname }: URL) =>
      !/^\/(studio|system\/changes|favicon)/.test(pathname) && pathname !== '/studio/session';
    const alert = (text: string) => page.getByRole('alert').filter({ hasText: text }).first();
    const open = (screen: string) => page.goto(`${origin}/studio${addresses(ids)[screen]}`);

    /** Handles the requests for data that `wanted` says, until `work` is done. */
    async function answering(
      wanted: (url: URL) => boolean,
      answer: (route: Route) => Promise<void>,
      work: () => Promise<void>,
    ): Promise<void> {
      const matches = (url: URL) => isData(url) && wanted(url);
      await page.route(matches, answer);
      await work();
      await page.unroute(matches);
    }

    /** `GET /threads/x` and the like, each once. */
    async function questionsOf(screen: string): Promise<string[]> {
      const asked = new Set<string>();
      // The screen before may be asking once more.
      await page.goto('about:blank');
      const listen = (request: { url(): string }) => {
        const url = new URL(request.url());
        if (url.origin === origin && isData(url)) asked.add(url.pathname);
      };
      page.on('request', listen);
      await open(screen);
      await loaded(page);
      page.off('request', listen);
      return [...asked];
    }

    const all = () => true;
    const refusal = (status: number, detail: string) => (route: Route) =>
      route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ detail }) });

    test.each(screenPaths())(
      '%s shows that it loads, and then its content, for every kind of user',
      async (screen) => {
        let goOn = () => {};
        const released = new Promise<void>((resolve) => {
          goOn = resolve;
        });
        const hold = (route: Route) => released.then(() => route.continue());
        await answering(all, hold, async () => {
          await open(screen);
          await page
            .getByRole('status')
            .filter({ hasText: /^Loading/ })
            .first()
            .waitFor();
          goOn();
          await loaded(page);
        });
        expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
        expect(await violations(page)).toEqual([]);
      },
    );

    test.each(screenPaths())(
      '%s fits a telephone, and the keyboard reaches all that can be used',
      async (screen) => {
        await page.setViewportSize({ width: 320, height: 640 });
        await open(screen);
        await loaded(page);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.goto('about:blank');
        await open(screen);
        await loaded(page);
        expect(await unreached(page)).toEqual([]);
      },
    );

    test.each(screenPaths())('%s reports missing rights and an unavailable server', async (screen) => {
      await answering(all, refusal(403, 'not for you'), async () => {
        await open(screen);
        await alert('not for you').waitFor();
      });
      await answering(
        all,
        (route) => route.abort(),
        async () => {
          await open(screen);
          await alert('The server is not responding').waitFor();
        },
      );
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await expect.poll(() => alert('The server is not responding').count()).toBe(0);
      await loaded(page);
    });

    test.each(screenPaths())('%s shows the error of each of its requests', async (screen) => {
      const silent: string[] = [];
      for (const path of await questionsOf(screen)) {
        await answering(
          ({ pathname }) => pathname === path,
          refusal(409, 'the disk is full'),
          async () => {
            await open(screen);
            await loaded(page);
            const shown = alert('the disk is full').waitFor({ timeout: 15_000 });
            await shown.catch(() => silent.push(path));
          },
        );
      }
      expect(silent).toEqual([]);
    });
  },
);
