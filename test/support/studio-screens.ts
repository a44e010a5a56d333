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

/** Schemas that only types have take a busy machine long. */
const PATIENCE_MS = 50_000;

/** What is still being loaded. */
const LOADING = `[...document.querySelectorAll('[role=status]')].filter((one) => /^Loading/.test(one.textContent)).length`;

/** Resolves when a screen shows what it has loaded. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await until('the screen has loaded', async () => (await page.evaluate(LOADING)) === 0, PATIENCE_MS);
}

/** Ids of rows that screens of one thing show. */
export interface ShownIds {
  readonly assistant_id: string;
  readonly thread_id: string;
  readonly run_id: string;
  readonly cron_id: string;
  readonly delivery_id: string;
  readonly deployment_id: string;
}

/** An address of each screen, below `/studio`. */
export function addresses(ids: ShownIds): Readonly<Record<string, string>> {
  const values: Readonly<Record<string, string>> = {
    $assistantId: ids.assistant_id,
    $threadId: ids.thread_id,
    $runId: ids.run_id,
    $cronId: ids.cron_id,
    $deliveryId: ids.delivery_id,
    $deploymentId: ids.deployment_id,
  };
  return Object.fromEntries(
    screenPaths().map((path) => [
      path,
      path.replace(/\$\w+/g, (name) => {
        const value = values[name];
        if (value === undefined) throw new Error(`${path}: no row for ${name}; tell addresses() one`);
        return value;
      }),
    ]),
  );
}
