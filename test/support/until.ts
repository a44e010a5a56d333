import { setTimeout as sleep } from 'node:timers/promises';

/** Asks every few ms until the answer is yes. Throws, saying what was waited for, when it takes too long. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  within_ms = 120_000,
): Promise<void> {
  const deadline = performance.now() + within_ms;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${within_ms} ms in vain until ${what}`);
    await sleep(10);
  }
}
