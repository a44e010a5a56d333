import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { until } from './until.ts';

const ROUTER = resolve(import.meta.dirname, '../../studio/src/router.tsx');

/** Paths of all screens of Studio, as its router has them: `/runs/$runId`. */
export function screenPaths(): string[] {
  const paths = readFileSync(ROUTER, 'utf8').matchAll(/\bpath: '([^']+)'/g);
  return [...paths].map(([, path]) => path as string).sort();
}

/** What is still being loaded. */
const LOADING = `[...document.querySelectorAll('[role=status]')].filter((one) => /^Loading/.test(one.textContent)).length`;

/** Resolves when a screen shows what it has loaded. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await until('the screen has loaded', async () => (await page.evaluate(LOADING)) === 0);
}
