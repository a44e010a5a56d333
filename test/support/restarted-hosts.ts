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

type Options = ConstructorParameters<typeof HostPool>[0];

/** A pool of hosts without graphs, as many as `count`. `logged`: resolves with the first line that says this. */
export async function emptyPool({
  count,
  ...options
}: Partial<Omit<Options, 'count'>> & { readonly count: number | Options['count'] }) {
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
      count: typeof count === 'number' ? { least: count, most: count } : count,
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
