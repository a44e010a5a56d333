import { readFile } from 'node:fs/promises';
import { Client } from '@langchain/langgraph-sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { closedGate } from '../support/gate.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

const GRAPHS = ['branches', 'three-levels', 'nested', 'fails', 'sleeper', 'held', 'broken'];

describe.runIf(hasStudio)('graphs in Studio (needs Debian package chromium)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;
  let client: Client;

  beforeAll(async () => {
    [http, browser] = await Promise.all([openApp({ graphs: GRAPHS }), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
    client = new Client({ apiUrl: origin });
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  /** Its name says its state: `check, done`. */
  const node = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  /** Each edge with its line and its name. */
  async function edges(page: Page): Promise<(string | null)[][]> {
    const all = await page.locator('[data-edge]').all();
    return Promise.all(
      all.map(async (edge) => [
        await edge.getAttribute('data-edge'),
        (await edge.locator('path').getAttribute('stroke-dasharray')) === null ? 'solid' : 'dashed',
        await edge.textContent(),
      ]),
    );
  }

  /** A run that has ended, or `running`. */
  async function runOf(assistant: string, input: Record<string, unknown>, until = 'end') {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, assistant, { input });
    if (until === 'end') await client.runs.join(thread_id, run_id).catch(() => {});
    return { thread_id, run_id };
  }

  test('show the edges of the compiled graph, conditional ones dashed and with their names', async () => {
    const { page, problems } = await openStudio(browser, origin, '/graphs/branches');
    await node(page, 'check').waitFor();
    expect(await edges(page)).toEqual([
      ['__start__ → check', 'solid', ''],
      ['approve → __end__', 'solid', ''],
      ['check → approve', 'dashed', 'too much'],
      ['check → __end__', 'dashed', 'fine'],
    ]);

    await node(page, 'check').press('Enter');
    await page.getByRole('heading', { name: 'check' }).waitFor();
    await page.getByText('State it reads and writes').waitFor();
    await page.getByText('amount', { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('node')).toBe('check');

    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('expand subgraphs one by one, and keep them in the address', async () => {
    const { page } = await openStudio(browser, origin, '/graphs/three-levels');
    await page.getByRole('button', { name: 'Nodes of top_two' }).click();
    await node(page, 'middle_one').waitFor();
    await page.getByRole('button', { name: 'Nodes of middle_two' }).click();
    await node(page, 'bottom_two').waitFor();
    await page.reload();
    await node(page, 'bottom_two').waitFor();
    expect((await edges(page)).map(([edge]) => edge)).toContain(
      'top_two:middle_two:bottom_one → top_two:middle_two:bottom_two',
    );
    await page.getByRole('button', { name: 'Hide subgraphs' }).click();
    await expect.poll(() => node(page, 'middle_one').count()).toBe(0);
    await page.context().close();
  });

  test('show the steps of a run, including subgraphs and the error of a node', async () => {
    const failed = await runOf('fails', { x: 7 });
    const { page } = await openStudio(browser, origin, `/graphs/fails?run=${failed.run_id}`);
    await node(page, 'works, done').waitFor();
    expect(await violations(page)).toEqual([]);
    await node(page, 'throws, failed').click();
    await page.getByText('BoomError: boom 7').waitFor();

    const asking = await runOf('nested', { ask: true });
    await page.goto(`${origin}/studio/graphs/nested?run=${asking.run_id}`);
    await node(page, 'first, done').waitFor();
    await node(page, 'child, waits').waitFor();
    await page.context().close();
  });

  test('follow a run while it executes', async () => {
    const { thread_id, run_id } = await runOf('sleeper', { ms: 600_000 }, 'running');
    const { page } = await openStudio(browser, origin, `/graphs/sleeper?run=${run_id}`);
    await node(page, 'rest, running').waitFor();
    await client.runs.cancel(thread_id, run_id, true);
    await expect.poll(() => node(page, 'rest, running').count()).toBe(0);
    await page.context().close();
  });

  test('show executing nodes, including those of subgraphs, with their number of tasks', async () => {
    using parts = closedGate();
    using child = closedGate();
    const input = { parts: [1, 2, 3, 4, 5], parts_gate: parts.file, child_gate: child.file };
    const { run_id } = await runOf('held', input, 'running');
    const { page } = await openStudio(browser, origin, `/graphs/held?run=${run_id}&open=child`);
    await node(page, 'part, running 5×').waitFor();
    await node(page, 'inside').waitFor();
    parts.open();
    await node(page, 'inside, running').waitFor();
    await node(page, 'child, running').waitFor();
    await node(page, 'part, done 5×').waitFor();
    await node(page, 'inside, running').click();
    await page.getByRole('link', { name: 'running' }).waitFor();
    child.open();
    await node(page, 'inside, done').waitFor();
    await node(page, 'child, done').waitFor();
    await page.context().close();
  });

  test('show the state that the last step of a node started from, with a link to its checkpoint', async () => {
    const { thread_id, run_id } = await runOf('nested', { ask: false });
    const { page, problems } = await openStudio(browser, origin, `/graphs/nested?run=${run_id}&node=child`);
    const value = (name: string) => page.getByRole('figure', { name, exact: true }).locator('pre');
    await page.getByRole('heading', { name: 'State before its last step' }).waitFor();
    expect(await page.getByRole('figure', { name: 'log', exact: true }).count()).toBe(0);
    await page.locator('summary').getByText('log', { exact: true }).click();
    await value('log').waitFor();
    expect(JSON.parse(await value('log').innerText())).toEqual(['first']);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Inspect checkpoint' }).click();
    await page.getByRole('region', { name: 'Changes' }).waitFor();
    const checkpoint_id = new URL(page.url()).searchParams.get('checkpoint') ?? '';
    const { next, values } = await client.threads.getState(thread_id, checkpoint_id);
    expect({ next, values }).toEqual({ next: ['child'], values: { ask: false, log: ['first'] } });
    expect(problems).toEqual([]);

    const inner = await runOf('three-levels', { path: ['a way'] });
    const address = `/graphs/three-levels?run=${inner.run_id}&open=top_two&node=top_two:middle_one`;
    await page.goto(`${origin}/studio${address}`);
    await page.locator('summary').getByText('path', { exact: true }).click();
    await value('path').waitFor();
    expect(JSON.parse(await value('path').innerText())).toEqual(['a way']);
    await page.context().close();
  });

  test('show each run of a thread with two graphs in its own graph', async () => {
    const nested = await runOf('nested', { ask: false });
    const { run_id } = await client.runs.create(nested.thread_id, 'branches', { input: { amount: 500 } });
    await client.runs.join(nested.thread_id, run_id);
    const { page, problems } = await openStudio(browser, origin, `/runs/${nested.run_id}?tab=graph`);
    await node(page, 'child, done').waitFor();
    expect(await node(page, 'check, done').count()).toBe(0);
    await page.goto(`${origin}/studio/runs/${run_id}?tab=graph`);
    await node(page, 'approve, done').waitFor();
    expect(await node(page, 'child, done').count()).toBe(0);
    expect(await page.getByText('nodes that the graph no longer has').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('keep the graph of a run when its assistant changes, even next to the chat', async () => {
    const { assistant_id } = await client.assistants.create({ graphId: 'branches' });
    const { run_id, thread_id } = await runOf(assistant_id, { amount: 500 });
    await client.assistants.update(assistant_id, { graphId: 'nested' });
    const { page } = await openStudio(browser, origin, `/runs/${run_id}?tab=graph`);
    await node(page, 'approve, done').waitFor();
    await page.getByText('graph uses version 1 of the assistant, which executed the run').waitFor();
    expect(await page.getByText('nodes that the graph no longer has').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.goto(`${origin}/studio/chat/${assistant_id}/${thread_id}?graph=open`);
    await node(page, 'approve, done').waitFor();
    await page.goto(`${origin}/studio/graphs/${assistant_id}`);
    await node(page, 'child').waitFor();
    await page.context().close();
  });

  test('list steps of nodes that the graph no longer has, and name the version of the graph', async () => {
    const { run_id } = await runOf('branches', { amount: 500 });
    const { page } = await openStudio(browser, origin, '/');
    const [then, now] = ['1'.repeat(8), '2'.repeat(8)].map((start) => `${start}-0000-4000-8000-000000000000`);
    let origins: object = { thread_revision_id: then, revision_id: now };
    await page.route(/\/runs\/[^/]+\/graph/, async (route) => {
      const drawing = await (await route.fetch()).json();
      const isKept = ({ id }: { id: string }) => id !== 'approve';
      const edges = [{ source: '__start__', target: 'check' }];
      const json = { ...drawing, nodes: drawing.nodes.filter(isKept), edges };
      await route.fulfill({ json: { ...json, ...origins } });
    });
    await page.goto(`${origin}/studio/runs/${run_id}?tab=graph`);
    await node(page, 'check, done').waitFor();
    await page.getByText('The thread started on revision 11111111…0000, which no longer serves').waitFor();
    await page.getByText('nodes that the graph no longer has').waitFor();
    await page.getByRole('button', { name: 'approve done' }).click();
    await page.getByRole('heading', { name: 'Last steps' }).waitFor();
    expect(await violations(page)).toEqual([]);
    origins = { loaded_at: new Date(Date.now() + 86_400_000).toISOString() };
    await page.reload();
    await page.getByText('The graph code was loaded after the run ended').waitFor();

    origins = { ...origins, run_revision_id: then, thread_revision_id: now, revision_id: now };
    await page.reload();
    await page
      .getByText(
        'Executed by revision 11111111…0000, which no longer serves. This is the graph of revision 22222222…0000.',
      )
      .waitFor();
    expect(await violations(page)).toEqual([]);
    origins = { ...origins, run_revision_id: now, thread_revision_id: then };
    await page.reload();
    await page.getByText('Executed by revision 22222222…0000.').waitFor();
    expect(await page.getByText(/no longer serves|after the run ended/).count()).toBe(0);
    await page.context().close();
  });

  test('show why the graph of a run does not load, and list the nodes of the run', async () => {
    const { run_id } = await runOf('branches', { amount: 500 });
    const { page } = await openStudio(browser, origin, '/');
    const json = { detail: 'Graph branches cannot be made' };
    await page.route(/\/runs\/[^/]+\/graph/, (route) => route.fulfill({ status: 404, json }));
    await page.goto(`${origin}/studio/runs/${run_id}?tab=graph`);
    await page.getByRole('alert').getByText(json.detail, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'approve done' }).click();
    await page.getByRole('heading', { name: 'Last steps' }).waitFor();
    await page.context().close();
  });

  test('show why a graph does not load, and the others work', async () => {
    const { page } = await openStudio(browser, origin, '/graphs/broken');
    await page.getByRole('alert').getByText('the vault is locked').waitFor();
    await page.getByRole('link', { name: 'Graphs' }).click();
    await page.getByRole('link', { name: 'branches' }).click();
    await node(page, 'approve').waitFor();
    await page.context().close();
  });

  test('can be downloaded as an image and as Mermaid', async () => {
    const { page } = await openStudio(browser, origin, '/graphs/branches');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'SVG' }).click();
    const file = await downloading;
    const picture = await readFile(await file.path(), 'utf8');
    expect(file.suggestedFilename()).toBe('branches.svg');
    expect(picture).toContain('>too much</text>');
    expect(picture).not.toMatch(/class=|var\(--/);

    const picturing = page.waitForEvent('download');
    await page.getByRole('button', { name: 'PNG' }).press('Enter');
    const png = await readFile(await (await picturing).path());
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(picture) ?? [];
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
      Math.ceil(2 * Math.round(Number(width))),
      Math.ceil(2 * Math.round(Number(height))),
    ]);

    await page.getByRole('button', { name: 'Copy Mermaid' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const text = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(text.split('\n').map((line) => line.trim())).toEqual([
      'flowchart TD',
      'n0(["start"])',
      'n1["check"]',
      'n2["approve"]',
      'n3(["end"])',
      'n0 --> n1',
      'n2 --> n3',
      'n1 -.->|"too much"| n2',
      'n1 -.->|"fine"| n3',
      '',
    ]);
    await page.context().close();
  });
});
