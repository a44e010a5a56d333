import { describe, expect, test } from 'vitest';
import { endedRun } from '../support/ended-run.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const TRACE_URL = 'https://tempo.example/trace/{trace_id}?from={trace_id}';

describe.runIf(hasStudio)('a run in Studio (needs Debian package chromium)', () => {
  const graphs = ['fails', 'nested', 'sleeper', 'ten-steps', 'zod-state'];
  const studio = useStudioServer(graphs, { studio: { trace_url: TRACE_URL } });

  test('its timeline grows while it executes, and includes the current step', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'ten-steps', {
      input: { n: 0 },
      config: { configurable: { step_ms: 10_000 } },
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    const steps = page.getByRole('region', { name: 'Steps' }).getByRole('button');
    await steps.filter({ hasText: 'running' }).waitFor();
    const shown = await steps.count();
    await expect.poll(() => steps.count()).toBeGreaterThan(shown);
    expect((await studio.client.runs.get(thread_id, run_id)).status).toBe('running');
    expect(await violations(page)).toEqual([]);
    await studio.client.runs.cancel(thread_id, run_id);
    await page.getByRole('main').getByText('interrupted').first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('reports that it is deleted when another client deletes its thread', async () => {
    const { thread_id, run_id } = await endedRun(studio.client, 'ten-steps', { input: { n: 0 } });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('region', { name: 'Steps' }).waitFor();
    await studio.client.threads.delete(thread_id);
    await page.getByText('Not Found', { exact: true }).waitFor();
    await page.context().close();
  });

  test('opens in every status, even after a rollback', async () => {
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
    await opens((await endedRun(studio.client, 'ten-steps', { input: { n: 0 } })).run_id, 'success');
    await client.runs.cancel(thread_id, running, true);
    await opens(running, 'interrupted');

    // The next one executes now.
    await opens(pending, 'running');
    await client.runs.cancel(thread_id, pending, true, 'rollback');
    await page.getByText('Not Found', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('shows its own graph if two graphs share a thread', async () => {
    const { thread_id, run_id } = await endedRun(studio.client, 'ten-steps', { input: { n: 0 } });
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

  test('shows its graph next to the timeline, and links from a node to its step', async () => {
    const { run_id } = await endedRun(studio.client, 'nested', { input: {} });
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

  test('has the same trace and span ids as the API, and links to the tracing tool', async () => {
    const { run_id } = await endedRun(studio.client, 'nested', { input: {} });
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
    const { run_id } = await endedRun(studio.client, 'zod-state', {
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
});
