import { describe, expect, test } from 'vitest';
import { endedRun } from '../support/ended-run.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('starting a run again in Studio (needs Debian package chromium)', () => {
  const studio = useStudioServer(['fails', 'interrupting', 'nested', 'ten-steps', 'zod-state']);

  test('a run starts again with another input, on a new thread', async () => {
    const { run_id, thread_id } = await endedRun(studio.client, 'zod-state', {
      input: { topic: 'tea', length: 2 },
      context: { language: 'de' },
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('button', { name: 'Re-run with changes' }).click();
    const input = page.getByRole('textbox', { name: 'Input' });
    expect(JSON.parse(await input.inputValue())).toEqual({ topic: 'tea', length: 2 });
    await input.fill('{"topic": "tea"');
    await page.getByText(/^Invalid JSON/).waitFor();
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

  test('a failed run is retried from where it started, so that its input is applied once', async () => {
    const first = await endedRun(studio.client, 'fails', { input: { x: 1 } });
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

  test('only a failed or cancelled run can be retried', async () => {
    const { client, origin, browser } = studio;
    const done = await endedRun(studio.client, 'nested', { input: {} });
    const asks = await endedRun(studio.client, 'interrupting', { input: {} });
    expect((await client.threads.get(asks.thread_id)).status).toBe('interrupted');
    for (const { run_id } of [done, asks]) {
      const { page } = await openStudio(browser, origin, `/runs/${run_id}`);
      await page.getByRole('button', { name: 'Re-run with changes' }).waitFor();
      expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
      await page.context().close();
    }
  });

  test('Cancel ends an executing run, which can then be retried', async () => {
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

  test('a run shows code that starts it again', async () => {
    const { run_id, thread_id } = await endedRun(studio.client, 'zod-state', {
      input: { topic: "it's", length: 2 },
    });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as code' }).click();
    const codes: string[] = [];
    for (const language of ['curl', 'JavaScript', 'Python']) {
      await page.getByRole('button', { name: language, exact: true }).click();
      await page.getByRole('button', { name: `Copy the ${language} code` }).click();
      await page.getByRole('button', { name: `Copied the ${language} code` }).waitFor();
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
