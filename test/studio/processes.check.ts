import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import type { TestServer } from '../support/server-process.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { signIn } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const OPERATOR = 'an-operator';
const TOKENS = 400;
/** Of each process that makes changes. */
const CHANGES = 7;

describe.runIf(hasStudio && TEST_POSTGRES_URI)(
  'Studio in front of several processes on PostgreSQL (needs Chromium, a build of Studio and TEST_POSTGRES_URI)',
  () => {
    let cluster: Cluster;
    let browser: Browser;

    beforeAll(async () => {
      const graphs = { tokens: 'test/fixtures/graphs/tokens.ts:graph' };
      [cluster, browser] = await Promise.all([startCluster({ graphs, api_keys: [OPERATOR] }), openBrowser()]);
      // Four processes start at once.
    });

    afterAll(async () => {
      await browser?.close();
      await cluster?.[Symbol.asyncDispose]();
    });

    const api = (index: number) => cluster.apis[index] as TestServer;
    const textOf = (page: Page) => page.getByRole('article', { name: 'Assistant' }).innerText();
    /** The path at which the page follows a run. */
    const streamOf = (thread_id: string, run_id: string) => `/threads/${thread_id}/runs/${run_id}/stream`;

    test('a session is valid in all processes, and a change by any of them appears', async () => {
      const { page, problems } = await openStudio(browser, cluster.url, '/threads');
      await signIn(page, OPERATOR);
      await page.getByText('No threads yet').waitFor();
      await until(
        'the page follows changes',
        async () => cluster.proxy.serverOf('/system/changes') !== undefined,
      );
      const following = cluster.proxy.serverOf('/system/changes') as number;
      for (const [title, index] of [
        ['By the same', following],
        ['By the other', 1 - following],
      ] as const) {
        for (let n = 0; n < CHANGES; n++) {
          await api(index).client.threads.create({ metadata: { title: `${title}, ${n}` } });
          // Lists are not polled: only the notification of this change makes it appear.
          await page.getByRole('link', { name: new RegExp(`^${title}, ${n}`) }).waitFor();
        }
      }
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('an answer continues without gaps or duplicates when the process that streams it is killed', async () => {
      const { client } = api(0);
      const { page, problems } = await openStudio(browser, cluster.url, '/chat/tokens');
      await signIn(page, OPERATOR);
      await page.getByRole('button', { name: 'All fields' }).click();
      await page.getByLabel('Count').fill(String(TOKENS));
      await page.getByLabel('Token ms').fill('25');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('log').getByText('t0 t1 t2').waitFor();

      const thread_id = new URL(page.url()).pathname.split('/').at(-1) as string;
      const [run] = await client.runs.list(thread_id);
      const path = streamOf(thread_id, run?.run_id as string);
      const streaming = cluster.proxy.serverOf(path);
      expect(streaming).toBeDefined();
      await api(streaming as number).kill();
      // From here on, every second request fails.
      const other = api(1 - (streaming as number)).client;
      expect((await other.runs.get(thread_id, run?.run_id as string)).status).toBe('running');
      await page
        .getByRole('log')
        .getByText(`t${TOKENS - 1}`)
        .waitFor();

      const all = Array.from({ length: TOKENS }, (_, n) => `t${n}`);
      expect((await textOf(page)).match(/t\d+/g)).toEqual(all);
      await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
      expect((await textOf(page)).match(/t\d+/g)).toEqual(all);
      expect(problems).toEqual([]);
      await page.context().close();
    });
  },
);
