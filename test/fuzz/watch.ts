import { httpClient } from '../support/http-client.ts';
import { cpuSeconds } from '../support/process-usage.ts';

/** How long a server kept everybody waiting. */
export interface Held {
  /** The longest answer to `/ok` on a connection of its own, or all that the process computed if that is less, ms. */
  readonly held_ms: number;
}

/**
 * Does something while a second connection asks `/ok` again and again. A machine that has much to do also makes answers
 * late, but nobody holds an event loop for longer than the process computes.
 */
export async function whileWatched<T>(
  { url, pid }: { readonly url: string; readonly pid: number },
  act: () => Promise<T>,
): Promise<Held & { readonly result: T }> {
  using client = httpClient(url, { connections: 1 });
  const cpu = cpuSeconds(pid);
  let isOver = false;
  let slowest_ms = 0;
  const watching = (async () => {
    while (!isOver) {
      const began = performance.now();
      await client.call('GET', '/ok');
      slowest_ms = Math.max(slowest_ms, performance.now() - began);
    }
  })();
  try {
    const result = await act();
    isOver = true;
    await watching;
    return { result, held_ms: Math.min(slowest_ms, (cpuSeconds(pid) - cpu) * 1000) };
  } finally {
    isOver = true;
    await watching.catch(() => {});
  }
}
