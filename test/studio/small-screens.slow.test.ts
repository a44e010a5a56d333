import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const OPERATOR = 'an-operator';

describe.runIf(hasStudio)('Studio on a small screen (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['three-levels', 'asks', 'tokens']);

  /** A page as wide as a telephone. */
  async function open(path: string, size = { width: 390, height: 844 }) {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await page.setViewportSize(size);
    await page.goto(`${studio.origin}/studio${path}`);
    return { page, problems };
  }

  const endOf = async (link: Locator) => {
    const { x = 999, width = 0 } = (await link.boundingBox()) ?? {};
    return Math.floor(x + width);
  };

  test('a table that is too wide scrolls by itself, not the page', async () => {
    const { body } = await studio.http.post('/threads', { metadata: { title: 'A title of many words' } });
    const { page, problems } = await open('/threads');
    await page
      .getByRole('link', { name: body.thread_id.slice(0, 8) })
      .or(page.getByText('A title of many words'))
      .first()
      .waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the steps of a run have room for their names and times', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'three-levels', { input: { path: [] } });
    await studio.client.runs.join(thread_id, run_id);
    const { page, problems } = await open(`/runs/${run_id}`);
    const steps = page.getByRole('region', { name: 'Steps' });
    const step = steps.getByRole('button', { name: /^top_two/ });
    const [name, bars] = await Promise.all(
      [0, 1].map((n) => step.locator(':scope > span').nth(n).boundingBox()),
    );
    expect(bars?.width).toBeGreaterThan(100);
    expect(name?.width).toBeGreaterThan(100);
    const axis = await page.evaluate<number[][]>(`
      [...document.querySelector('[aria-label=Steps]').previousElementSibling.lastElementChild.children]
        .map((each) => each.getBoundingClientRect())
        .filter(({ width }) => width > 0)
        .map(({ left, right }) => [left, right])
    `);
    expect(axis.length).toBeGreaterThan(1);
    for (const [n, [left]] of axis.slice(1).entries()) expect(left).toBeGreaterThanOrEqual(axis[n]?.[1] ?? 0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('on a phone, Stop is next to Send, without keyboard hints', async () => {
    const { thread_id } = await studio.client.threads.create();
    const input = { count: 10_000, token_ms: 25 };
    const { run_id } = await studio.client.runs.create(thread_id, 'tokens', {
      input,
      streamMode: ['messages-tuple'],
    });
    const viewport = { width: 320, height: 640 };
    const page = await studio.browser.newPage({ viewport, isMobile: true, hasTouch: true });
    await page.goto(`${studio.origin}/studio/chat/tokens/${thread_id}`);
    await page.getByRole('button', { name: 'Send now' }).waitFor();
    const buttons = ['Stop', 'Send now', 'Send'].map((name) =>
      page.getByRole('button', { name, exact: true }),
    );
    const boxes = await Promise.all(buttons.map((button) => button.boundingBox()));
    expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
    expect(await page.getByText('⏎', { exact: true }).isVisible()).toBe(false);
    await studio.client.runs.cancel(thread_id, run_id, true);
    await page.context().close();
  });

  test('the header of a chat is at most two lines, and its actions are one click away', async () => {
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'asks', { input: { ask: ['Which?'] } });
    const { page, problems } = await open(`/chat/asks/${thread_id}`, { width: 320, height: 640 });
    const header = page.locator('main > header');
    await header.getByText('waiting for you').waitFor();
    const { height = 99 } = (await header.boundingBox()) ?? {};
    expect(height).toBeLessThanOrEqual(64);
    await header.getByRole('button', { name: 'More' }).click();
    for (const name of ['Last run', 'Inspect thread', 'Graph'])
      await header.getByRole('link', { name, exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await studio.client.threads.delete(thread_id);
    await page.context().close();
  });

  test('a question is in view beside the input of a graph that has a form, which is folded while it waits', async () => {
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'asks', { input: { ask: ['Which?'] } });
    const { page, problems } = await open(`/chat/asks/${thread_id}`, { width: 320, height: 640 });
    const question = page.getByRole('region', { name: 'Question from the agent' });
    const answer = question.getByRole('button').last();
    await answer.waitFor();
    const input = page.getByRole('region', { name: 'Input' });
    const [asked, button, below] = await Promise.all(
      [question.getByRole('heading'), answer, input].map((each) => each.boundingBox()),
    );
    const { y: header = 0, height = 0 } = (await page.locator('main > header').boundingBox()) ?? {};
    expect(asked?.y).toBeGreaterThan(header + height);
    expect((button?.y ?? 999) + (button?.height ?? 0)).toBeLessThan(below?.y ?? 0);
    expect((below?.y ?? 999) + (below?.height ?? 0)).toBeLessThanOrEqual(640);
    await input.getByRole('button', { name: 'Send a new input instead' }).click();
    await input.getByRole('button', { name: /^Run/ }).waitFor();
    await input.locator('input:focus, textarea:focus').first().waitFor();
    expect(problems).toEqual([]);
    await studio.client.threads.delete(thread_id);
    await page.context().close();
  });

  test.each([
    { screen: 'threads', role: 'button', name: 'Export' },
    { screen: 'runs', role: 'link', name: 'Compare with …' },
    { screen: 'assistants', role: 'button', name: 'Duplicate' },
  ] as const)(
    'on the screen of one of the $screen, rarely used actions are one click away',
    async ({ screen, role, name }) => {
      const { thread_id } = await studio.client.threads.create();
      const run = await studio.client.runs.create(thread_id, 'three-levels', { input: { path: [] } });
      await studio.client.runs.join(thread_id, run.run_id);
      const ids = { threads: thread_id, runs: run.run_id, assistants: run.assistant_id };
      const { page, problems } = await open(`/${screen}/${ids[screen]}`, { width: 320, height: 640 });
      const header = page.locator('main > header');
      await header.getByRole('button', { name: 'More' }).waitFor();
      expect(await header.getByRole(role, { name }).isVisible()).toBe(false);
      await header.getByRole('button', { name: 'More' }).click();
      await header.getByRole(role, { name }).waitFor();
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
      await studio.client.threads.delete(thread_id);
      await page.context().close();
    },
  );

  test('a recent conversation has room for its title, its assistant and its time', async () => {
    const title = 'Which of the five offers for the new roof is the best one';
    const { thread_id } = await studio.client.threads.create({ metadata: { title } });
    const name = 'Offers and contracts';
    const { assistant_id } = await studio.client.assistants.create({ graphId: 'asks', name });
    await studio.client.runs.wait(thread_id, assistant_id, { input: { ask: ['Which?'] } });
    const { page, problems } = await open('/chat', { width: 320, height: 640 });
    const link = page.getByRole('link', { name: title });
    await link.getByText('interrupted').waitFor();
    for (const part of [link.getByText(title), link.getByText(name), link.locator('time')]) {
      const { x = 0, width = 0 } = (await part.boundingBox()) ?? {};
      expect(width).toBeGreaterThan(10);
      expect(x + width).toBeLessThanOrEqual(300);
    }
    expect(problems).toEqual([]);
    await studio.client.threads.delete(thread_id);
    await page.context().close();
  });

  test('in the inbox, the interrupt is below the list, not over it', async () => {
    for (const action of ['pay', 'ship', 'pack']) {
      const args = { to: 'ana', subject: 'lunch', body: 'See you', at: 'noon', where: 'here' };
      const config = { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true };
      const { thread_id } = await studio.client.threads.create();
      const ask = [{ action_request: { action, args }, config }];
      await studio.client.runs.wait(thread_id, 'asks', { input: { ask } });
    }
    const { page, problems } = await open('/inbox', { width: 320, height: 640 });
    const waiting = page.getByRole('list', { name: 'Waiting' });
    await waiting.getByRole('listitem').nth(2).waitFor();
    const approve = page.getByRole('button', { name: /^Approve/ });
    await approve.waitFor();
    const [list, question] = await Promise.all(
      [waiting, approve].map((has) => page.locator('section', { has }).boundingBox()),
    );
    if (!list || !question) throw new Error('The inbox shows no list or no question.');
    expect(question.y).toBeGreaterThanOrEqual(list.y + list.height);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the actions for selected threads are above their list', async () => {
    for (let n = 0; n < 20; n++) await studio.client.threads.create();
    const { page, problems } = await open('/threads');
    await page.getByLabel('Select all shown threads').check();
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^Delete \d+ threads\?$/)
      .waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the bar above a screen is one line, even for administrators, who view as a user from the search', async () => {
    await using http = await openApp({
      graphs: ['asks'],
      environment: { AGENT_SERVER_API_KEYS: OPERATOR },
      one_process: 'a setting of its own',
    });
    const { origin } = new URL((await http.app.listen()).url);
    const { page } = await openStudio(studio.browser, origin, '/');
    await page.setViewportSize({ width: 320, height: 640 });
    await signIn(page, OPERATOR);
    const { height = 99 } = (await page.getByRole('banner').boundingBox()) ?? {};
    expect(height).toBeLessThan(56);
    await page.getByRole('button', { name: /^Go to/ }).click();
    await page.getByRole('option', { name: 'View as user' }).click();
    await page.getByLabel('User identity').waitFor();
    await page.context().close();
  });

  test('the open tab is in view', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'three-levels', { input: { path: [] } });
    const { page } = await open(`/runs/${run_id}?tab=explain`, { width: 320, height: 640 });
    const link = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Explain' });
    await until('the link is in view', async () => (await endOf(link)) <= 320);
    await page.context().close();
  });

  test('the link of the current screen is in view', async () => {
    const { page, problems } = await open('/connect');
    const link = page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Connect' });
    await until('the link is in view', async () => (await endOf(link)) <= 390);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
