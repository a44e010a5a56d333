import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Signs in with a key, as a person does, and stays on the page. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
}

/** What axe finds wrong with a page in both themes. */
export async function violations(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    for (const { id, nodes } of violations) found.push(`${colorScheme}: ${id}: ${nodes[0]?.html}`);
  }
  return found;
}
