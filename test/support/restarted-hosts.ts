import { afterEach, beforeEach, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { HostPool } from '../../src/hosts/pool/pool.ts';
import { project } from './project.ts';
import { recordingLogger } from './recording-logger.ts';

/** For the tests of the calling file: what a pool waits for, such as before it starts a host again, passes with `vi`. */
export function useFakeDelays(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

type PoolOptions = Partial<ConstructorParameters<typeof HostPool>[0]> & { readonly count: number };

/** A pool of hosts without graphs. `logged`: resolves with the first line that says this. */
export async function emptyPool(options: PoolOptions) {
  await using opened = new AsyncDisposableStack();
  const code = opened.use(await project({}));
  const lines: string[] = [];
  const wanted = new Map<string, () => void>();
  const pool = opened.use(
    new HostPool({
      project: { root: code.root, graphs: [] },
      env: process.env,
      logger: recordingLogger('info', ({ message }) => {
        lines.push(message);
        for (const [text, found] of wanted) if (message.includes(text)) found();
      }),
      clock: systemClock,
      ...options,
    }),
  );
  const logged = (text: string) =>
    new Promise<void>((found) => {
      wanted.set(text, found);
      if (lines.some((line) => line.includes(text))) found();
    });
  const all = opened.move();
  return { pool, logged, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
