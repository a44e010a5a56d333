import { randomFillSync } from 'node:crypto';

/** Cryptographically random bytes; injected so that tests can fix them. */
export type RandomBytes = (size: number) => Buffer;

/** Random bytes from a buffer that is refilled as a whole: each call of the system's generator costs microseconds. */
export function bufferedRandomBytes(): RandomBytes {
  const store = Buffer.alloc(4096);
  let used = store.length;
  return (size) => {
    if (used + size > store.length) {
      randomFillSync(store);
      used = 0;
    }
    used += size;
    return Buffer.from(store.subarray(used - size, used));
  };
}
