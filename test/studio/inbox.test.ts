import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const GRAPHS = 'test/fixtures/graphs';

describe.runIf(hasStudio)('the inbox of Studio (needs Debian package chromium)', () => {
  let server: TestServer;
  let browser: Browser;
  let outbox: string;

  beforeAll(async () => {
    outbox = await mkdtemp(join(tmpdir(), 'outbox-'));
    [server, browser] = await Promise.all([
      startServer({
        graphs: {
          assistant: 'examples/assistant/graph.ts:graph',
          questions: `${GRAPHS}/questions.ts:graph`,
        },
        env: { OUTBOX: outbox, OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
      }),
      openBrowser(),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await rm(outbox, { recursive: true, force: true });
  });

  async function ask(assistant: string, content: string): Promise<string> {
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.wait(thread_id, assistant, { input: { messages: [{ role: 'user', content }] } });
    return thread_id;
  }

  const order = (name: string) =>
    ask('assistant', `Email ${name}@example.com about lunch saying See you at noon.`);

  /** Those that are written to their end. */
  const mails = async () =>
    (await Promise.all((await readdir(outbox)).map((file) => readFile(join(outbox, file), 'utf8'))))
      .filter((mail) => mail.includes('Subject:'))
      .map((mail) => mail.split('\n').slice(0, 2).join(' '));

  const rows = (page: Page) => page.getByRole('list', { name: 'Waiting' }).getByRole('listitem');
  /** Until a field has the focus: keys that come earlier are shortcuts. */
  const typing = (page: Page) => page.locator('input:focus, textarea:focus').waitFor();
  const left = (page: Page, count: number) =>
    until(`${count} wait`, async () => (await rows(page).count()) === count);

  test('interrupts are approved, edited and rejected by keyboard alone, one by one and several at once', async () => {
    for (const name of ['ana', 'bob', 'cy', 'dan', 'eve']) await order(name);
    const { page, problems } = await openStudio(browser, server.url, '/inbox');
    await left(page, 5);
    expect(await violations(page)).toEqual([]);
    const key = (name: string) => page.keyboard.press(name);
    /** Keys do nothing while the answer before is being sent. */
    const selects = async (name: string) => {
      await page.locator('[aria-current=true]', { hasText: `${name}@example.com` }).waitFor();
      await page.locator('button:enabled', { hasText: 'Approve' }).first().waitFor();
    };
    await selects('ana');

    await key('a');
    await left(page, 4);
    await selects('bob');
    await key('j');
    await selects('cy');
    await key('k');
    await selects('bob');

    // The first field is the address.
    await key('e');
    await typing(page);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('rob@example.com');
    await key('Escape');
    await key('a');
    await left(page, 3);

    await selects('cy');
    await key('r');
    await typing(page);
    await page.keyboard.type('Lunch is off.');
    await key('Enter');
    await left(page, 2);

    await key('x');
    await key('j');
    await key('x');
    await page.getByText('2 marked').waitFor();
    await key('a');
    await page.getByText('All caught up').waitFor();
    await until('every e-mail is sent', async () => (await mails()).length === 4);
    expect((await mails()).toSorted()).toEqual([
      'To: ana@example.com Subject: lunch',
      'To: dan@example.com Subject: lunch',
      'To: eve@example.com Subject: lunch',
      'To: rob@example.com Subject: lunch',
    ]);
    expect(problems).toEqual([]);
  });

  test('several interrupts are rejected at once', async () => {
    const sent = (await mails()).length;
    const asked = [await order('qi'), await order('ran')];
    const { page, problems } = await openStudio(browser, server.url, '/inbox');
    await left(page, 2);
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.locator('[aria-current=true]', { hasText: 'ran@example.com' }).waitFor();
    await page.keyboard.press('x');
    await page.getByText('2 marked').waitFor();
    await page.keyboard.press('r');
    await page.getByText('All caught up').waitFor();
    for (const thread_id of asked) {
      const [run] = await server.client.runs.list(thread_id);
      await server.client.runs.join(thread_id, run?.run_id ?? '');
      expect(JSON.stringify(run)).toContain('{"decisions":[{"type":"reject"');
      expect((await server.client.threads.get(thread_id)).status).toBe('idle');
    }
    expect((await mails()).length).toBe(sent);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a tool call is decided with JSON if its form does not fit', async () => {
    const thread_id = await order('sam');
    const { page, problems } = await openStudio(browser, server.url, '/inbox');
    await left(page, 1);
    await page.getByRole('button', { name: 'Answer as JSON' }).press('Enter');
    const field = page.getByLabel(/^Answer/);
    await field.fill('{"decisions": [{"type": "reject", "message": "Not today"}]}');
    await page.getByText('sent as JSON').waitFor();
    await field.press('Enter');
    await page.getByText('All caught up').waitFor();
    await until(
      'the run has ended',
      async () => (await server.client.threads.get(thread_id)).status === 'idle',
    );
    const { values } = await server.client.threads.getState<{ messages: { content: string }[] }>(thread_id);
    expect(JSON.stringify(values.messages)).toContain('Not today');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a key that is held down answers one interrupt, but moves over several', async () => {
    const asked: string[] = [];
    for (const name of ['lea', 'max', 'ned', 'ola', 'pia']) asked.push(await order(name));
    const { page, problems } = await openStudio(browser, server.url, '/inbox');
    await left(page, 5);
    const selected = (name: string) =>
      page.locator('[aria-current=true]', { hasText: `${name}@example.com` }).waitFor();
    await selected('lea');
    await page.keyboard.down('a');
    await left(page, 4);
    await selected('max');
    for (let repeats = 0; repeats < 5; repeats++) {
      await page.getByRole('button', { name: /^Approve/ }).click({ trial: true });
      await page.keyboard.down('a');
    }
    await page.keyboard.up('a');
    for (const name of ['ned', 'ola', 'pia']) {
      await page.keyboard.down('j');
      await selected(name);
    }
    await page.keyboard.up('j');
    await left(page, 4);
    const runs = await Promise.all(asked.map((thread_id) => server.client.runs.list(thread_id)));
    expect(runs.map((ofThread) => ofThread.length)).toEqual([2, 1, 1, 1, 1]);
    await Promise.all(asked.map((thread_id) => server.client.threads.delete(thread_id)));
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('interrupts of other shapes are answered, and a new one appears without a reload', async () => {
    const { page, problems } = await openStudio(browser, server.url, '/inbox');
    await page.getByText('All caught up').waitFor();
    const thread_id = await ask('questions', 'A trip, please');
    await page.getByRole('heading', { name: 'What is your name?' }).waitFor();
    await page.keyboard.press('e');
    await typing(page);
    await page.keyboard.type('{"first": "Ada"}');
    await page.getByText('sent as JSON').waitFor();
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Where to?' }).waitFor();
    await page.keyboard.press('e');
    await typing(page);
    await page.keyboard.type('Rome');
    await page.keyboard.press('Tab');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Allow the call to book?' }).waitFor();
    await page.keyboard.press('w');
    await typing(page);
    await page.keyboard.type('Is there a pool?');
    await page.keyboard.press('Enter');
    await page.getByText('All caught up').waitFor();
    await server.client.runs
      .list(thread_id)
      .then(([run]) => server.client.runs.join(thread_id, run?.run_id ?? ''));

    const { values } = await server.client.threads.getState<{ messages: { content: string }[] }>(thread_id);
    expect(JSON.parse(values.messages.at(-1)?.content ?? '')).toEqual({
      name: { first: 'Ada' },
      trip: { city: 'Rome', nights: 2, breakfast: false },
      booked: [{ type: 'response', args: 'Is there a pool?' }],
    });
    expect(problems).toEqual([]);
  });

  test('an interrupt that another user answered first is reported, and pressed keys do not affect the next one', async () => {
    const asked = [await order('fay'), await order('gus'), await order('hal')];
    const { page, problems } = await openStudio(browser, server.url, '/inbox');
    await left(page, 3);
    const sent = (await mails()).length;
    const answerElsewhere = async (thread_id: string) => {
      const { tasks } = await server.client.threads.getState(thread_id);
      const id = tasks[0]?.interrupts[0]?.id ?? '';
      const answer = { decisions: [{ type: 'approve' }] };
      await server.client.runs.wait(thread_id, 'assistant', { command: { resume: { [id]: answer } } });
    };
    await page.locator('[aria-current=true]', { hasText: 'fay@example.com' }).waitFor();
    await answerElsewhere(asked[0] as string);
    await page.getByText('Someone else answered this in the meantime').waitFor();
    await left(page, 2);
    await page.keyboard.press('a');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('j');
    await page.locator('[aria-current=true]', { hasText: 'gus@example.com' }).waitFor();

    // The page does not hear of this one in time.
    const search = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const before = await fetch(`${server.url}/interrupts/search`, search).then((found) => found.json());
    await page.route('**/interrupts/search', (route) => route.fulfill({ json: before }));
    await answerElsewhere(asked[1] as string);
    await page.keyboard.press('a');
    const refusal = page.getByText('Your answer was not sent.');
    await refusal.waitFor();
    // It says nothing about the others.
    const open = async (name: string) => {
      await rows(page).filter({ hasText: name }).getByRole('link').click();
      await page.locator('[aria-current=true]', { hasText: name }).waitFor();
    };
    await open('hal@example.com');
    expect(await refusal.count()).toBe(0);
    await open('gus@example.com');
    await refusal.waitFor();
    expect(await server.client.runs.list(asked[1] as string)).toHaveLength(2);
    expect((await mails()).length).toBe(sent + 2);
    await page.unroute('**/interrupts/search');

    // The address still names the one that is answered.
    await page.reload();
    await page.getByRole('heading', { name: 'This question' }).waitFor();
    await page.getByText('Someone else answered this in the meantime').waitFor();
    await page.keyboard.press('a');
    expect(await page.locator('[aria-current=true]').count()).toBe(0);
    await page.keyboard.press('j');
    await page.locator('[aria-current=true]', { hasText: 'hal@example.com' }).waitFor();
    expect(await server.client.runs.list(asked[2] as string)).toHaveLength(1);
    await server.client.threads.delete(asked[2] as string);
    await page.getByText('This question is no longer open').waitFor();
    await page.getByRole('button', { name: /^Continue/ }).press('Enter');
    await page.getByText('All caught up').waitFor();
    expect(problems).toEqual([]);
  });

  test('a link to an interrupt beyond the first pages selects it, and no other', async () => {
    const asked = [await order('ida'), await order('jon'), await order('kim')];
    const { tasks } = await server.client.threads.getState(asked[2] as string);
    const link = `/inbox?interrupt=${asked[2]}.${tasks[0]?.interrupts[0]?.id}`;
    const { page, problems } = await openStudio(browser, server.url, '');
    // Pages of one question.
    await page.route('**/interrupts/search', (route) =>
      route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), limit: 1 }) }),
    );
    await page.goto(new URL(`/studio${link}`, server.url).href);
    await page.locator('[aria-current=true]', { hasText: 'kim@example.com' }).waitFor();
    expect(await page.locator('[aria-current=true]').count()).toBe(1);
    await left(page, 3);
    await Promise.all(asked.map((thread_id) => server.client.threads.delete(thread_id)));
    expect(problems).toEqual([]);
  });
});
