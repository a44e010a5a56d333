import type { Locator, Page } from 'playwright-core';

/** More elements than a page has that take the focus. */
const MAX_TABS = 150;

/** Moves the focus to an element, as somebody without a mouse does. */
export async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const focused = target.and(page.locator(':focus'));
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${target} is not reached by Tab`);
}

/** Moves the focus to a link, a button or a choice, and uses it. */
export async function use(page: Page, target: Locator, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
  await reach(page, target);
  await page.keyboard.press(key);
}

/** Moves the focus to a field, and writes in place of what is there. */
export async function write(page: Page, field: Locator, text: string): Promise<void> {
  await reach(page, field);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}
