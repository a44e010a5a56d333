import { after } from '../core/timers.ts';

/** Thrown by `within`; the work itself goes on. */
export class TookTooLong extends Error {
  constructor(limit_ms: number) {
    super(`it took longer than ${limit_ms / 1000} s`);
    this.name = 'TookTooLong';
  }
}

/** The result of work that may hang, or `TookTooLong` when it takes longer than `limit_ms`. */
export async function within<T>(limit_ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = after(limit_ms, () => reject(new TookTooLong(limit_ms)));
  return await Promise.race([work, late]);
}
