import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { closedGate } from '../support/gate.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { sseEvents } from '../support/sse.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';

const GRAPHS = 'test/fixtures/graphs';
const PARTS = [0, 1, 2];

interface StepList {
  readonly attempts: readonly { readonly attempt: number }[];
  readonly steps: readonly { readonly attempt: number; readonly name: string }[];
}

/** The server is killed where the graph waits for a file, so that no time decides what had happened by then. */
describe.runIf(hasStudio)('a run in Studio while the server is killed and restarted (needs Chromium)', () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    const graphs = { held: `${GRAPHS}/held.ts:graph`, prints: `${GRAPHS}/prints.ts:graph` };
    [server, browser] = await Promise.all([startServer({ graphs }), openBrowser()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** A run that waits in three tasks at once, then in a subgraph. */
  async function heldRun(folder: string) {
    const [parts_gate, child_gate] = [join(folder, 'parts'), join(folder, 'child')];
    const { thread_id } = await server.client.threads.create();
    const { run_id } = await server.client.runs.create(thread_id, 'held', {
      input: { parts: PARTS, parts_gate, child_gate },
      streamMode: ['updates', 'tasks', 'values'],
      streamSubgraphs: true,
      streamResumable: true,
    });
    return {
      run_id,
      thread_id,
      async end() {
        for (const file of [parts_gate, child_gate]) await writeFile(file, '');
        await server.client.runs.join(thread_id, run_id);
      },
    };
  }

  const open = (path: string) => openStudio(browser, server.url, path);

  const json = async (path: string) => (await fetch(`${server.url}${path}`)).json();

  /** The stored stream, from its first event on. */
  async function storedEvents({ thread_id, run_id }: { thread_id: string; run_id: string }) {
    const path = `/threads/${thread_id}/runs/${run_id}/stream`;
    const { body } = await fetch(`${server.url}${path}`, { headers: { 'last-event-id': '-1' } });
    const text = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
    const events: { id: string | undefined; data: unknown }[] = [];
    for await (const { id, event, data } of sseEvents(text as unknown as AsyncIterable<string>))
      if (event !== 'end') events.push({ id, data: JSON.parse(data) });
    return events;
  }

  /** What the page has of them, as it saves them. */
  async function savedEvents(page: Page) {
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download NDJSON' }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\n');
    return lines.map((line) => JSON.parse(line)).map(({ id, data }) => ({ id, data }));
  }

  test('continues its events without gaps or duplicates', async () => {
    using gate = closedGate();
    const run = await heldRun(gate.folder);
    const { page, problems } = await open(`/runs/${run.run_id}?tab=events`);
    const events = page.getByRole('region', { name: 'Events' }).getByRole('button');
    await events
      .filter({ hasText: 'part' })
      .nth(PARTS.length - 1)
      .waitFor();
    await page.getByText(/events, live$/).waitFor();
    await server.restart();
    await run.end();
    await page.getByText(/^\d+ events$/).waitFor();
    const stored = await storedEvents(run);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
    expect(await savedEvents(page)).toEqual(stored);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('continues its timeline with every step once', async () => {
    using gate = closedGate();
    const run = await heldRun(gate.folder);
    const { page, problems } = await open(`/runs/${run.run_id}`);
    const rows = page.getByRole('region', { name: 'Steps' }).getByRole('button');
    const parts = rows.filter({ hasText: /^part.*running/s });
    await expect.poll(() => parts.count()).toBe(PARTS.length);
    await server.restart();
    await rows.filter({ hasText: 'Attempt 2' }).waitFor();
    // Those of the attempt that was lost are gone.
    await expect.poll(() => parts.count()).toBe(PARTS.length);
    await run.end();
    await page.getByRole('main').getByText('success', { exact: true }).first().waitFor();
    const { attempts, steps } = (await json(`/runs/${run.run_id}/steps`)) as StepList;
    const expected = attempts.flatMap(({ attempt }) => [
      `Attempt ${attempt}`,
      ...steps.filter((step) => step.attempt === attempt).map(({ name }) => name),
    ]);
    expect(expected).toHaveLength(9);
    const names = async () => (await rows.allInnerTexts()).map((text) => text.split('\n')[0]);
    await expect.poll(names).toEqual(expected);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('continues the tail of its log without gaps or duplicates', async () => {
    using gate = closedGate();
    const { thread_id } = await server.client.threads.create();
    const printed = ['line 1', 'line 2', 'line 3', 'line 4', 'line 5'];
    const input = { what: 'many', count: printed.length, gate: gate.file };
    const { run_id } = await server.client.runs.create(thread_id, 'prints', { input });
    const { page, problems } = await open(`/system?run=${run_id}`);
    const lines = page.getByRole('region', { name: 'Lines' }).getByRole('listitem');
    await lines.filter({ hasText: 'line 5' }).waitFor();
    await server.restart();
    // The next attempt prints them again.
    await lines.filter({ hasText: 'line 5' }).nth(1).waitFor();
    gate.open();
    await page.getByText('The run has ended').waitFor();
    await lines.filter({ hasText: 'after the gate' }).waitFor();
    const stored = (await json(`/runs/${run_id}/logs`)) as { time: string; message: string }[];
    const texts = await lines.allInnerTexts();
    const shown = texts.map((text) => text.split('\n').filter((part) => part !== ''));
    const expected = stored.map(({ time, message }) => [time.slice(11, 23), message]);
    expect(shown.map(([time, _run, _node, message]) => [time, message])).toEqual(expected);
    expect(expected.map(([, message]) => message)).toEqual([...printed, ...printed, 'after the gate']);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
