/**
 * The only file that calls `setTimeout` and `setInterval`. Node fires a timer after 1 ms when its delay exceeds
 * 2^31 − 1 ms (24.8 days); these functions chain timers and wait the whole time. NaN and negative delays count as 0.
 */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Dispose it to stop it. */
export interface Timer extends Disposable {
  /** Lets the process exit while this timer is pending. */
  unref(): Timer;
}

/** Calls `callback` once, after `ms`. */
export function after(ms: number, callback: () => void): Timer {
  let left = delayOf(ms);
  let referenced = true;
  let handle: NodeJS.Timeout;
  const wait = () => {
    const step = Math.min(left, MAX_TIMER_MS);
    left -= step;
    handle = setTimeout(left > 0 ? wait : callback, step);
    if (!referenced) handle.unref();
  };
  wait();
  return {
    unref() {
      referenced = false;
      handle.unref();
      return this;
    },
    [Symbol.dispose]: () => clearTimeout(handle),
  };
}

/** Calls `callback` every `ms`. */
export function every(ms: number, callback: () => void): Timer {
  const delay = delayOf(ms);
  const parts = Math.max(1, Math.ceil(delay / MAX_TIMER_MS));
  let left = parts;
  const tick = () => {
    left -= 1;
    if (left > 0) return;
    left = parts;
    callback();
  };
  const handle = setInterval(tick, Math.ceil(delay / parts));
  return {
    unref() {
      handle.unref();
      return this;
    },
    [Symbol.dispose]: () => clearInterval(handle),
  };
}

/** Resolves after `ms`, or as soon as the signal aborts; never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Aborts with a `TimeoutError` after `ms`. Like `AbortSignal.timeout`, it does not keep the process alive. */
export function timeoutSignal(ms: number): AbortSignal {
  const late = new AbortController();
  after(ms, () => late.abort(new DOMException('The operation timed out', 'TimeoutError'))).unref();
  return late.signal;
}

/** Resolves to the result of `work`; rejects with the reason of the signal as soon as it aborts, and `work` continues. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    // Nothing else listens to work that is no longer waited for, and it may still fail.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Whole ms, rounded up so that no timer fires early. The upper bound (285,000 years) makes `Infinity` divisible. */
function delayOf(ms: number): number {
  return ms > 0 ? Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER) : 0;
}

/** Thrown by `withDeadline`; the work itself continues. */
export class DeadlineExceeded extends Error {
  constructor(limit_ms: number) {
    super(`it took longer than ${limit_ms / 1000} s`);
    this.name = 'DeadlineExceeded';
  }
}

/** Resolves to the result of `work`; rejects with `DeadlineExceeded` after `limit_ms`. */
export async function withDeadline<T>(limit_ms: number, work: Promise<T>): Promise<T> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  using _timer = after(limit_ms, () => reject(new DeadlineExceeded(limit_ms)));
  return await Promise.race([work, deadline]);
}
