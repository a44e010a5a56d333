import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';

describe.runIf(hasStudio)('keys, system and connect in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['chat', 'prints', 'sleeper'], {
    environment: { AGENT_SERVER_API_KEYS: OPERATOR },
  });

  async function open(path: string, key = OPERATOR) {
    const opened = await openStudio(studio.browser, studio.origin, path);
    await signIn(opened.page, key);
    return opened;
  }

  const statusWith = async (key: string) =>
    (await studio.http.post('/threads/count', {}, { 'x-api-key': key })).status;

  test('a key is shown once, works, and is rejected once it is revoked, by keyboard', async () => {
    const { page, problems } = await open('/keys');
    await page.getByRole('button', { name: 'New key' }).press('Enter');
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('back end');
    await page.keyboard.press('Enter');
    const key = await page.getByRole('textbox', { name: 'API key' }).inputValue();
    expect(await statusWith(key)).toBe(200);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByText('valid', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Revoke' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter');
    await page.getByText('revoked', { exact: true }).waitFor();
    expect(await statusWith(key)).toBe(401);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('the list of keys shows scope, expiry and last use', async () => {
    const { page, problems } = await open('/keys');
    await page.getByRole('button', { name: 'New key' }).press('Enter');
    await page.getByLabel('Name (what the key is for)').fill('reports');
    await page.getByLabel('Scope').selectOption('read: only reads');
    await page.getByLabel('Ends').selectOption('After 7 days');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).press('Enter');
    const key = await page.getByRole('textbox', { name: 'API key' }).inputValue();
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    const row = page.getByRole('table', { name: 'Keys' }).getByRole('row').filter({ hasText: 'reports' });
    const [, state, scope, , used, ends] = await row.getByRole('cell').allInnerTexts();
    expect([state, scope, used]).toEqual(['valid', 'read', 'never']);
    const keys = (await studio.http.get('/keys', { 'x-api-key': OPERATOR })).body as {
      name: string;
      created_at: string;
      expires_at: string;
    }[];
    const created = keys.find(({ name }) => name === 'reports');
    const end = Date.parse(created?.expires_at ?? '');
    expect(end - Date.parse(created?.created_at ?? '')).toBeCloseTo(7 * 86_400_000, -5);
    expect(ends).toBe(await page.evaluate(`new Date(${end}).toLocaleString()`));
    expect(await statusWith(key)).toBe(200);
    await page.reload();
    await row
      .getByRole('cell')
      .nth(4)
      .getByText(/ago$|^now$/)
      .waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a browser token acts as its user', async () => {
    const { page, problems } = await open('/keys');
    await page.getByRole('button', { name: 'New browser token' }).click();
    await page.getByLabel('User').fill('jane');
    await page.getByRole('button', { name: 'Create' }).click();
    const token = await page.getByRole('textbox', { name: 'Browser token' }).inputValue();
    expect(await statusWith(token)).toBe(200);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('a read key sees what it may not see, and is offered only what it may do', async () => {
    const body = { name: 'reader', scope: 'read' };
    const { key } = (await studio.http.post('/keys', body, { 'x-api-key': OPERATOR })).body;
    const { page } = await open('/keys', key);
    await page.getByText('Not available with this key').waitFor();
    for (const [screen, action] of [
      ['Webhooks', 'Send a test'],
      ['Crons', 'New cron'],
      ['Store', 'New item'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: screen }).click();
      await page.getByRole('heading', { name: screen }).waitFor();
      expect(await page.getByRole('button', { name: action }).count()).toBe(0);
    }
    await page.context().close();
  });

  test('the system screen shows the processes, and charts the measurements of one', async () => {
    const { page, problems } = await open('/system');
    await page.getByRole('img', { name: /^Event loop delay: now 99 %/ }).waitFor();
    await page.getByRole('table', { name: 'Processes' }).getByText(String(process.pid)).waitFor();
    await page.getByText(`The last hour of process ${process.pid} on`).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('a user without access to the history of the server sees measurements from now on', async () => {
    const body = { name: 'watcher', scope: 'read' };
    const { key } = (await studio.http.post('/keys', body, { 'x-api-key': OPERATOR })).body;
    const { page, problems } = await open('/system', key);
    await page.getByText('Processes and storage need an unrestricted key').waitFor();

    // What was measured stays while another screen is open.
    const since = await page.getByText(/^The process that answered, since/).innerText();
    const screens = page.getByRole('navigation', { name: 'Screens' });
    await page.clock.install();
    await page.clock.fastForward(90_000);
    await screens.getByRole('link', { name: 'Overview' }).press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.clock.fastForward(90_000);
    await screens.getByRole('link', { name: 'System' }).press('Enter');
    await page.getByText(since).waitFor();
    // It has a line before that time and one after it.
    const lines = page
      .getByRole('img', { name: /^Runs:/ })
      .locator('path')
      .nth(1);
    await expect.poll(async () => (await lines.getAttribute('d'))?.match(/M/g)?.length).toBeGreaterThan(1);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('the system screen shows which process executes which run until when', async () => {
    const { page, problems } = await open('/system');
    await page.getByText('No run is executing.').waitFor();
    const key = { 'x-api-key': OPERATOR };
    const { thread_id } = (await studio.http.post('/threads', {}, key)).body;
    const run = { assistant_id: 'sleeper', input: { ms: 60_000 } };
    const { run_id } = (await studio.http.post(`/threads/${thread_id}/runs`, run, key)).body;
    const row = page.getByRole('table', { name: 'Leases' }).getByRole('row', { name: /^sleeper/ });
    await row.getByText(String(process.pid)).waitFor();
    await row.getByText(/^\d+ s$/).waitFor();
    await page.getByText('1 run', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await row.getByRole('link').press('Enter');
    await page.waitForURL(`**/runs/${run_id}`);
    await studio.http.post(`/threads/${thread_id}/runs/${run_id}/cancel?wait=1`, {}, key);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('the system screen follows output of graphs by level and assistant, with links to the runs', async () => {
    const { page, problems } = await open('/system');
    await page.getByText('Following the output of all graphs').waitFor();
    const key = { 'x-api-key': OPERATOR };
    const { thread_id } = (await studio.http.post('/threads', {}, key)).body;
    const print = (what: string) =>
      studio.http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'prints', input: { what } }, key);
    await print('each_method');
    const lines = page.getByRole('region', { name: 'Lines' }).getByRole('listitem');
    await lines.filter({ hasText: 'a debug line' }).waitFor();
    await page.getByLabel('Level').selectOption('warn');
    await page.getByText('Following the output of all graphs').waitFor();
    await print('each_method');
    await lines.filter({ hasText: 'an error line' }).waitFor();
    expect(await lines.count()).toBe(2);
    expect(await violations(page)).toEqual([]);
    await lines.first().getByRole('link').press('Enter');
    await page.getByText('an info line').waitFor();

    // Of one run, also what it printed before the page was opened.
    const [run] = (await studio.http.get(`/threads/${thread_id}/runs`, key)).body;
    await page.goto(`${studio.origin}/studio/system?level=warn`);
    await page.getByRole('searchbox', { name: 'Run id' }).fill(run.run_id);
    await page.keyboard.press('Enter');
    await page.getByText('The run has ended').waitFor();
    await lines.filter({ hasText: 'an error line' }).waitFor();
    expect(await lines.count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('run')).toBe(run.run_id);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('the shown snippets work once a key is filled in', async () => {
    const { page, problems } = await open('/connect?tab=curl');
    const snippet = page.locator('pre').first();
    await snippet.getByText(`${studio.origin}/runs/wait`).waitFor();
    const shown = await snippet.innerText();
    const input = /-d '(.*)'/.exec(shown)?.[1] as string;
    const answer = await studio.http.post('/runs/wait', JSON.parse(input), { 'x-api-key': OPERATOR });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Hello!')]);

    for (const way of ['JavaScript', 'Python', 'MCP', 'A2A', 'AG-UI']) {
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: way }).click();
      await page.locator('pre').first().getByText(studio.origin).waitFor();
    }
    expect(await violations(page)).toEqual([]);
    await page.context().close();
    expect(problems).toEqual([]);
  });
});
