import type { Locator, Page } from 'playwright-core';

/** More elements than a page has that take the focus. */
const MAX_TABS = 150;

/** Moves the focus to an element, as a person without a mouse does. */
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

/** More elements than any screen has. */
const ALL_TABS = 400;

const IN_USE = 'a[href], button, input:not([type=radio]), select, textarea, summary, [tabindex]';

/**
 * What can be used with a mouse and is not reached by Tab: what takes the focus, and what looks as if a click did something
 * without taking it, containing what takes it, or belonging to it.
 */
export async function unreached(page: Page): Promise<string[]> {
  await page.evaluate('globalThis.reached = new Set()');
  const isAround = () =>
    page.evaluate<boolean>(`(() => {
      const { activeElement: one } = document;
      if (one === document.body) return false;
      const isKnown = reached.has(one);
      reached.add(one);
      return isKnown;
    })()`);
  let tabs = 0;
  do await page.keyboard.press('Tab');
  while (!(await isAround()) && ++tabs < ALL_TABS);
  return page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches(':disabled'))
    .filter((one) => one.matches('${IN_USE}')
      ? one.tabIndex >= 0 && !reached.has(one)
      : getComputedStyle(one).cursor === 'pointer' && !one.closest('${IN_USE}, label') && !one.querySelector('${IN_USE}'))
    .map((one) => one.outerHTML.slice(0, 200))`);
}
