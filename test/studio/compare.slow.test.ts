import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endedRun } from '../support/ended-run.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const folder = resolve(import.meta.dirname, '../fixtures/conversing-graphs');

describe.runIf(hasStudio)('two runs side by side in Studio (needs Chromium and a build of Studio)', () => {
  const environment = { AGENT_SERVER_RECORD: 'contents' };
  const usage = { currency: 'USD', prices: { '*': { in: 1_000_000, out: 2_000_000 } } };
  const studio = useStudioServer(['conversing', 'failing'], { folder, environment, usage } as never);
  const asked = (content: string) => ({ input: { messages: [{ role: 'user', content }] } });

  test('two runs chosen in the list are compared step by step, with tokens, cost and contents', async () => {
    await endedRun(studio.client, 'conversing', asked('Tea?'));
    await endedRun(studio.client, 'conversing', asked('Tea, please?'));
    const { page } = await openStudio(studio.browser, studio.origin, '/runs');
    const boxes = page.getByRole('table', { name: 'Runs' }).getByRole('checkbox');
    await boxes.nth(0).check();
    expect(await page.getByRole('link', { name: 'Compare' }).count()).toBe(0);
    await boxes.nth(1).check();
    await page.getByRole('link', { name: 'Compare' }).click();

    const steps = page.getByRole('table', { name: 'Steps' });
    const call = steps.getByRole('row', { name: /^ConversingModel/ }).nth(1);
    await call.waitFor();
    const values = async (name: string) => {
      const at = (await steps.getByRole('columnheader').allInnerTexts()).indexOf(name);
      return call.getByRole('cell').nth(at).innerText();
    };
    // The second call of each run is given four messages and answers with two words.
    for (const side of ['left', 'right']) {
      expect(await values(`Tokens, ${side}`)).toBe('6');
      expect(Number((await values(`Cost, ${side}`)).replace(/[^\d.]/g, ''))).toBeCloseTo(8);
    }
    expect(await steps.getByText(/only$/).count()).toBe(0);
    await call.getByRole('button').click();
    for (const [side, text] of [
      ['Left', 'Tea, please?'],
      ['Right', 'Tea?'],
    ] as const) {
      const contents = page.getByRole('region', { name: `${side} step` });
      const conversation = contents.getByRole('region', { name: /^Conversation/ });
      await conversation.getByRole('article').filter({ hasText: text }).first().waitFor();
    }
    expect(await violations(page)).toEqual([]);
    const { searchParams } = new URL(page.url());
    expect([...searchParams.keys()].sort()).toEqual(['left', 'right', 'step']);
    await page.context().close();
  });

  test('a run is compared with another one from its page, and a step that only one has is marked', async () => {
    const failed = await endedRun(studio.client, 'failing', { input: {} });
    const { run_id } = await endedRun(studio.client, 'conversing', asked('Tea?'));
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('link', { name: 'Compare with …' }).press('Enter');
    await page.getByText('Choose two runs').waitFor();
    expect(await page.getByRole('combobox', { name: 'Left run' }).inputValue()).toBe(run_id);
    await page.goto(`${studio.origin}/studio/compare?left=${run_id}&right=${failed.run_id}`);
    const steps = page.getByRole('table', { name: 'Steps' });
    await steps.getByRole('row', { name: /^reads right only/ }).waitFor();
    await steps.getByRole('row', { name: /^search left only/ }).waitFor();
    await steps.getByRole('button', { name: /^reads/ }).press('Enter');
    const right = page.getByRole('region', { name: 'Right step' });
    await right.getByText('> 7 |').first().waitFor();
    await page.getByRole('region', { name: 'Left step' }).getByText('no such step').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});
