import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
/** What clocks in India are ahead of UTC. */
const INDIA_MS = 5.5 * 3_600_000;

describe.runIf(hasStudio)('the log of the server in Studio (needs Chromium and a build of Studio)', () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    const graphs = { prints: 'test/fixtures/graphs/prints.ts:graph' };
    const one_process = 'the log is that of the process that answers';
    const options = { graphs, api_keys: [OPERATOR], one_process };
    [server, browser] = await Promise.all([startServer(options), openBrowser()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function open(path: string, key = OPERATOR) {
    const opened = await openStudio(browser, server.url, path);
    await signIn(opened.page, key);
    return opened;
  }

  const linesOf = (page: Page) => page.getByRole('region', { name: 'Lines' }).getByRole('listitem');
  const lineOf = (page: Page, text: string) => linesOf(page).filter({ hasText: text });
  /** A request that the log names, from outside of the page. */
  async function askFor(name: string): Promise<void> {
    await fetch(`${server.url}/threads/${name}`, { headers: { 'x-api-key': OPERATOR } });
  }
  const follows = (page: Page) => page.getByText(`Following process ${server.pid} on`).waitFor();

  async function print() {
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.wait(thread_id, 'prints', { input: { what: 'each_method' } });
    const [run] = await server.client.runs.list(thread_id);
    return run?.run_id as string;
  }

  /** What a page notices of its tab. */
  const turn = (page: Page, state: 'hidden' | 'visible') =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);

  test('an operator follows the log, including earlier lines, by level, and opens the run of a line', async () => {
    const { page, problems } = await open('/system');
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kolkata' });
    await page.getByText('Following the output of all graphs').waitFor();
    await page.getByLabel('Log', { exact: true }).selectOption('Server log');
    await follows(page);
    await lineOf(page, 'ready').first().waitFor();
    await askFor('asked');
    await lineOf(page, 'GET /threads/asked').waitFor();
    const time = lineOf(page, 'GET /threads/asked').getByRole('time');
    const written = Date.parse((await time.getAttribute('datetime')) ?? '');
    expect(await time.innerText()).toBe(new Date(written + INDIA_MS).toISOString().slice(11, 23));
    expect(await page.getByLabel('Assistant').count()).toBe(0);

    const run_id = await print();
    await page.getByLabel('Level').selectOption('Warnings and errors');
    await lineOf(page, 'an error line').waitFor();
    await lineOf(page, 'a warn line').waitFor();
    expect(await lineOf(page, 'GET /threads').count()).toBe(0);
    const search = new URL(page.url()).searchParams;
    expect([search.get('log'), search.get('level')]).toEqual(['server', 'warn']);
    expect(await violations(page)).toEqual([]);
    await lineOf(page, 'an error line').getByRole('link').press('Enter');
    await page.waitForURL(`**/runs/${run_id}?tab=logs`);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a user who is no operator is offered only the output of graphs', async () => {
    const body = JSON.stringify({ name: 'reader', scope: 'read' });
    const headers = { 'x-api-key': OPERATOR, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/keys`, { method: 'POST', headers, body });
    const { page } = await open('/system?log=server', ((await answer.json()) as { key: string }).key);
    await page.getByText('Following the output of all graphs').waitFor();
    expect(await page.getByLabel('Log', { exact: true }).count()).toBe(0);
    await page.context().close();
  });

  test('a hidden log sends no requests, and shows the missed lines once when it is visible again', async () => {
    const { page, problems } = await open('/connect');
    await page.clock.install();
    await page.goto(`${server.url}/studio/system?log=server`);
    await follows(page);
    await askFor('before');
    await lineOf(page, 'GET /threads/before').waitFor();
    await turn(page, 'hidden');
    await page.clock.fastForward(30_000);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await askFor('meanwhile');
    expect(asked).toEqual([]);
    await turn(page, 'visible');
    await lineOf(page, 'GET /threads/meanwhile').waitFor();
    await askFor('after');
    await lineOf(page, 'GET /threads/after').waitFor();
    expect(asked.filter((url) => url.includes('/system/server-logs'))).toHaveLength(1);
    for (const name of ['before', 'meanwhile', 'after'])
      expect([name, await lineOf(page, `GET /threads/${name} `).count()]).toEqual([name, 1]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('after a kill -9 the log names the new process, and shows each line of both once', async () => {
    const { page, problems } = await open('/system?log=server');
    await follows(page);
    await askFor('killed');
    await lineOf(page, 'GET /threads/killed').waitFor();
    await server.restart();
    await lineOf(page, `Process ${server.pid} on`).waitFor();
    await follows(page);
    await askFor('restarted');
    await lineOf(page, 'GET /threads/restarted').waitFor();
    expect(await lineOf(page, 'answers now. It started at').count()).toBe(1);
    for (const name of ['killed', 'restarted'])
      expect([name, await lineOf(page, `GET /threads/${name} `).count()]).toEqual([name, 1]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
