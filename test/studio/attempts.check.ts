import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunSteps } from '../../src/schemas/steps.ts';
import { openBrowser } from '../support/browser.ts';
import { closedGate } from '../support/gate.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const GRAPHS = { held: 'test/fixtures/graphs/held.ts:graph' };

describe.runIf(hasStudio)('attempts of a run in Studio (needs Chromium and a build of Studio)', () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ graphs: GRAPHS }), openBrowser()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Each row of the timeline: its name, and an attempt's status. */
  async function rows(page: Page): Promise<string[]> {
    const all = await page.getByRole('region', { name: 'Steps' }).getByRole('button').allInnerTexts();
    return all.map((text) => {
      const [name = '', note = ''] = text.split('\n').filter((line) => line.trim() !== '');
      return name.startsWith('Attempt') ? `${name} ${note}` : name;
    });
  }

  test('a run that continues after its process was killed shows both attempts, and each step once', async () => {
    using parts = closedGate();
    using child = closedGate();
    parts.open();
    const { thread_id } = await server.client.threads.create();
    const input = { parts: [1, 2], parts_gate: parts.file, child_gate: child.file };
    const { run_id } = await server.client.runs.create(thread_id, 'held', { input });
    const steps = async () => (await (await fetch(`${server.url}/runs/${run_id}/steps`)).json()) as RunSteps;
    const holdsIn = async (attempt: number) =>
      (await steps()).current?.some((step) => step.name === 'inside' && step.attempt === attempt) === true;
    await until('the first attempt waits in the subgraph', () => holdsIn(1));

    const { page, problems } = await openStudio(browser, server.url, `/runs/${run_id}`);
    await expect.poll(() => rows(page)).toEqual(['spread', 'part', 'part', 'child', 'inside']);
    await server.kill('SIGKILL');
    await server.restart();
    await until('the second attempt waits in the subgraph', () => holdsIn(2));
    const first = ['Attempt 1 lost', 'spread', 'part', 'part'];
    await expect.poll(() => rows(page)).toEqual([...first, 'Attempt 2 running', 'child', 'inside']);
    child.open();
    await expect.poll(() => rows(page)).toEqual([...first, 'Attempt 2 success', 'child', 'inside', 'later']);
    expect((await steps()).attempts.map(({ status }) => status)).toEqual(['lost', 'success']);
    await page.getByText('Attempt 2 of 3').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
