import { setTimeout as sleep } from 'node:timers/promises';

/** ms between two questions, at first and after a while: asked every few ms, a server spends a wait answering. */
const INTERVAL = { first: 10, longest: 100, growth: 1.25 };

/** Asks again and again until the answer is yes. Throws, saying what was waited for, when it takes too long. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  within_ms = 240_000,
): Promise<void> {
  const deadline = performance.now() + within_ms;
  let interval = INTERVAL.first;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${within_ms} ms in vain until ${what}`);
    await sleep(interval);
    interval = Math.min(interval * INTERVAL.growth, INTERVAL.longest);
  }
}
