import { readFile } from 'node:fs/promises';
import type { Client } from '@langchain/langgraph-sdk';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const TRACE_URL = 'https://tempo.example/trace/{trace_id}?from={trace_id}';

describe.runIf(hasStudio)('a run in Studio (needs Debian package chromium)', () => {
  const graphs = ['fails', 'interrupting', 'nested', 'sleeper', 'ten-steps', 'tokens', 'zod-state'];
  const studio = useStudioServer(graphs, { studio: { trace_url: TRACE_URL } });

  /** A run that has ended, whose events are kept. */
  async function ended(assistant: string, payload: Parameters<Client['runs']['create']>[2]) {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, assistant, {
      streamResumable: true,
      ...payload,
    });
    await studio.client.runs.join(thread_id, run_id);
    return { thread_id, run_id };
  }

  const rows = (page: Page) => page.getByRole('region', { name: 'Events' }).getByRole('button');
  const modesOf = (page: Page) => rows(page).locator('span:nth-child(2)').allInnerTexts();

  test('its events can be filtered, searched, read whole and saved', async () => {
    const { run_id } = await ended('nested', {
      input: {},
      streamMode: ['updates', 'custom'],
      streamSubgraphs: true,
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=events`);
    await page.getByText('6 events').waitFor();
    expect(await modesOf(page)).toEqual(['metadata', 'custom', 'updates', 'custom', 'updates', 'updates']);

    await page.getByRole('button', { name: 'updates 3' }).click();
    await page.getByText('3 of 6 events').waitFor();
    await page.getByLabel('Text of the events').fill('CHILD');
    await page.getByText('1 of 6 events').waitFor();
    await rows(page).click();
    await page.getByRole('heading', { name: 'custom child' }).waitFor();
    await page.reload();
    await page.getByText('1 of 6 events').waitFor();
    await page.getByRole('heading', { name: 'custom child' }).waitFor();
    expect(await violations(page)).toEqual([]);

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download NDJSON' }).click();
    const [line, ...others] = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\n');
    expect(others).toEqual([]);
    expect(JSON.parse(line as string)).toMatchObject({
      mode: 'custom',
      from: 'child',
      data: { from: 'child' },
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('events of a run that executes come as they are emitted; a pause loses none', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'tokens', {
      input: { count: 200, token_ms: 20 },
      streamMode: 'messages-tuple',
      streamResumable: true,
    });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=events`);
    await page.getByText(/events, live/).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/events, paused/).waitFor();
    await studio.client.runs.join(thread_id, run_id);
    await page.getByRole('button', { name: 'Go on' }).click();
    const all = await page.getByText(/^\d+ events$/).innerText();
    await page.reload();
    await page.getByText(/^\d+ events$/).waitFor();
    expect(await page.getByText(/^\d+ events$/).innerText()).toBe(all);
    await page.getByLabel('Text of the events').fill('t199 ');
    await expect.poll(() => rows(page).count()).toBeGreaterThan(0);
    await page.context().close();
  });

  test('its timeline grows while it executes, and has the step that runs now', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'ten-steps', {
      input: { n: 0 },
      config: { configurable: { step_ms: 3_000 } },
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    const steps = page.getByRole('region', { name: 'Steps' }).getByRole('button');
    await steps.filter({ hasText: 'running' }).waitFor();
    const shown = await steps.count();
    await expect.poll(() => steps.count(), { timeout: 10_000 }).toBeGreaterThan(shown);
    expect((await studio.client.runs.get(thread_id, run_id)).status).toBe('running');
    expect(await violations(page)).toEqual([]);
    await studio.client.runs.cancel(thread_id, run_id);
    await page.getByRole('main').getByText('interrupted').first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('says that it is gone when another client deletes its thread', async () => {
    const { thread_id, run_id } = await ended('ten-steps', { input: { n: 0 } });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('region', { name: 'Steps' }).waitFor();
    await studio.client.threads.delete(thread_id);
    await page.getByText('Not Found', { exact: true }).waitFor();
    await page.context().close();
  });

  test('opens in whatever state it is, also when it is undone', async () => {
    const { client } = studio;
    const { thread_id } = await client.threads.create();
    const sleeping = { input: { ms: 600_000 }, multitaskStrategy: 'enqueue' } as const;
    const { run_id: running } = await client.runs.create(thread_id, 'sleeper', sleeping);
    const { run_id: pending } = await client.runs.create(thread_id, 'sleeper', sleeping);
    const failing = await client.threads.create();
    const { run_id: failed } = await client.runs.create(failing.thread_id, 'fails', { input: { x: 7 } });
    await client.runs.join(failing.thread_id, failed).catch(() => undefined);
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    const opens = async (run_id: string, status: string) => {
      await page.goto(`${studio.origin}/studio/runs/${run_id}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText(status, { exact: true }).first().waitFor();
    };
    await opens(running, 'running');
    await opens(pending, 'pending');
    await opens(failed, 'error');
    await opens((await ended('ten-steps', { input: { n: 0 } })).run_id, 'success');
    await client.runs.cancel(thread_id, running, true);
    await opens(running, 'interrupted');

    // The next one executes now.
    await opens(pending, 'running');
    await client.runs.cancel(thread_id, pending, true, 'rollback');
    await page.getByText('Not Found', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('of two graphs that share a thread, each run shows its own', async () => {
    const { thread_id, run_id } = await ended('ten-steps', { input: { n: 0 } });
    const { run_id: other } = await studio.client.runs.create(thread_id, 'nested', { input: {} });
    await studio.client.runs.join(thread_id, other);
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${other}?tab=graph`);
    await page.getByRole('button', { name: 'first, done' }).waitFor();
    await page.goto(`${studio.origin}/studio/runs/${run_id}?tab=graph`);
    await page.getByRole('button', { name: /^step, / }).waitFor();
    expect(await page.getByRole('button', { name: /^first/ }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a run that kept no events says so', async () => {
    const { run_id } = await ended('nested', { input: {}, streamResumable: false });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=events`);
    await page.getByText('The events of this run were not kept').waitFor();
    await page.context().close();
  });

  test('shows its graph beside the timeline, and leads from a node to its step', async () => {
    const { run_id } = await ended('nested', { input: {} });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('link', { name: 'Graph', exact: true }).click();
    await page.getByRole('button', { name: 'first, done' }).click();
    await page.getByRole('link', { name: 'success' }).click();
    await page.getByRole('heading', { name: 'first' }).waitFor();
    await page.getByRole('button', { name: /^first/, pressed: true }).waitFor();

    await page.getByRole('link', { name: 'Flame' }).click();
    await page.getByRole('button', { name: /^child, / }).click();
    await page.getByRole('heading', { name: 'child' }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('runs again with another input, on a new thread', async () => {
    const { run_id, thread_id } = await ended('zod-state', {
      input: { topic: 'tea', length: 2 },
      context: { language: 'de' },
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('button', { name: 'Re-run with changes' }).click();
    const input = page.getByRole('textbox', { name: 'Input' });
    expect(JSON.parse(await input.inputValue())).toEqual({ topic: 'tea', length: 2 });
    await input.fill('{"topic": "tea"');
    await page.getByText(/^Not JSON/).waitFor();
    expect(await page.getByRole('button', { name: 'Start run' }).isDisabled()).toBe(true);
    await input.fill('{"topic": "coffee", "length": 3}');
    await page.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL((url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(run_id));

    const search = { limit: 1, select: ['run_id', 'thread_id', 'kwargs'] };
    const [again] = (await studio.http.post('/runs/search', search)).body;
    expect(page.url()).toContain(again?.run_id);
    expect(again?.thread_id).not.toBe(thread_id);
    expect(again?.kwargs).toMatchObject({
      input: { topic: 'coffee', length: 3 },
      context: { language: 'de' },
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a failed run is tried again from where it began, so that its input is there once', async () => {
    const first = await ended('fails', { input: { x: 1 } });
    const { client, origin, browser } = studio;
    const second = await client.runs.create(first.thread_id, 'fails', { input: { x: 2 } });
    await client.runs.join(first.thread_id, second.run_id);
    for (const [failed, x, log] of [
      [first, 1, ['works']],
      [{ thread_id: first.thread_id, run_id: second.run_id }, 2, ['works', 'works']],
    ] as const) {
      const { page, problems } = await openStudio(browser, origin, `/runs/${failed.run_id}`);
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.waitForURL(
        (url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(failed.run_id),
      );
      const again = new URL(page.url()).pathname.split('/').at(-1) as string;
      await client.runs.join(failed.thread_id, again);
      await page.getByRole('button', { name: 'Retry' }).waitFor();
      expect((await client.threads.getState(failed.thread_id)).values).toEqual({ x, log });
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.context().close();
    }
  });

  test('only what failed or was cancelled can be tried again', async () => {
    const { client, origin, browser } = studio;
    const done = await ended('nested', { input: {} });
    const asks = await ended('interrupting', { input: {} });
    expect((await client.threads.get(asks.thread_id)).status).toBe('interrupted');
    for (const { run_id } of [done, asks]) {
      const { page } = await openStudio(browser, origin, `/runs/${run_id}`);
      await page.getByRole('button', { name: 'Re-run with changes' }).waitFor();
      expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
      await page.context().close();
    }
  });

  test('Cancel ends a run that executes, which can be tried again then', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'ten-steps', {
      input: { n: 0 },
      config: { configurable: { step_ms: 60_000 } },
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByText('running').first().waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('main').getByText('interrupted').first().waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    expect((await studio.client.runs.get(thread_id, run_id)).status).toBe('interrupted');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.waitForURL((url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(run_id));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('names its trace and the spans of its steps as the API does, and leads to the tracing tool', async () => {
    const { run_id } = await ended('nested', { input: {} });
    const { trace_id, steps } = (await studio.http.get(`/runs/${run_id}/steps`)).body;
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = async (what: string) => {
      await page.getByRole('button', { name: `Copy ${what}` }).click();
      await page.getByRole('button', { name: `Copied ${what}` }).waitFor();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    const link = page.getByRole('link', { name: trace_id });
    expect(await link.getAttribute('href')).toBe(`https://tempo.example/trace/${trace_id}?from=${trace_id}`);
    expect(await copied('trace id')).toBe(trace_id);
    await page.getByRole('region', { name: 'Steps' }).getByRole('button').first().click();
    expect(await copied('span id')).toBe(steps[0].span_id);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('shows its input, configuration and context', async () => {
    const { run_id } = await ended('zod-state', {
      input: { topic: 'tea', length: 2 },
      context: { language: 'de' },
      config: { tags: ['a-tag'] },
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=input`);
    const shown = page.getByRole('figure', { name: 'Input and options of the run' });
    for (const part of ['"tea"', '"de"', '"a-tag"']) await shown.getByText(part).first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('gives code that starts it again', async () => {
    const { run_id, thread_id } = await ended('zod-state', { input: { topic: "it's", length: 2 } });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as code' }).click();
    const codes: string[] = [];
    for (const language of ['curl', 'JavaScript', 'Python']) {
      await page.getByRole('button', { name: language }).click();
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      codes.push(await page.evaluate<string>('navigator.clipboard.readText()'));
    }
    expect(codes[0]).toContain(`curl -N '${studio.origin}/threads/${thread_id}/runs/stream'`);
    expect(codes[0]).toContain(`"topic": "it'\\''s"`);
    expect(codes[1]).toContain(`client.runs.stream("${thread_id}", `);
    expect(codes[1]).toContain('"streamMode"');
    expect(codes[2]).toContain(`"topic": "it's"`);
    expect(codes[2]).toContain('stream_resumable=True');
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});
