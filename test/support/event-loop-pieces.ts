import { createHook } from 'node:async_hooks';

/**
 * The longest piece of work, ms, for which this process let nothing else happen while something was done: the CPU time
 * that its thread used between two turns. The delay of its event loop is longer wherever others have the core.
 */
export async function longestPiece(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user - last.user + now.system - last.system);
    last = now;
  };
  const looking = setInterval(look, 1);
  try {
    await work();
    look();
  } finally {
    clearInterval(looking);
  }
  return longest / 1e3;
}

/** Callbacks that Node runs before it lets anything else happen. */
const AT_ONCE = new Set(['PROMISE', 'TickObject', 'Microtask']);

/**
 * The largest amount of JSON, characters, that this process read or wrote at a stretch while something was done: in one
 * callback of its event loop, with the promises that it resolved. How many callbacks share a turn is a matter of speed.
 */
export async function mostJsonAtAStretch(work: () => Promise<unknown>): Promise<number> {
  const original = { parse: JSON.parse, stringify: JSON.stringify };
  let most = 0;
  let now = 0;
  const add = (text: unknown) => {
    now += String(text ?? '').length;
    most = Math.max(most, now);
  };
  Object.assign(JSON, {
    parse(...args: Parameters<typeof JSON.parse>) {
      add(args[0]);
      return original.parse(...args);
    },
    stringify(...args: Parameters<typeof JSON.stringify>) {
      const text = original.stringify(...args);
      add(text);
      return text;
    },
  });
  const atOnce = new Set<number>();
  const hook = createHook({
    init(id, type) {
      if (AT_ONCE.has(type)) atOnce.add(id);
    },
    before(id) {
      if (!atOnce.has(id)) now = 0;
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
    Object.assign(JSON, original);
  }
  return most;
}
