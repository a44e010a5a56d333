import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Signs in with a key, as a person does, and stays on the page. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
}

/** The themes differ in colours alone: what else is wrong with a page is wrong in both. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** What axe finds wrong with a page in both themes. */
export async function violations(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // In a page without frames, axe needs no other page to sum up what it found in each.
    const axe = new AxeBuilder({ page }).setLegacyMode(page.frames().length === 1);
    if (colorScheme === 'dark') axe.withRules(OF_COLOURS);
    const { violations } = await axe.analyze();
    for (const { id, nodes } of violations) found.push(`${colorScheme}: ${id}: ${nodes[0]?.html}`);
  }
  return found;
}
