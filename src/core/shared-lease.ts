import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Expiry of a process's lease; ms of `threadMonotonic`, which all processes of a machine share. */
export interface SharedLease {
  /** From this time on, work under the lease must stop. */
  readonly stop_at: number;
  /** From this time on, no work may execute: another process may have taken over. */
  readonly end_at: number;
}

const BYTES = 2 * BigInt64Array.BYTES_PER_ELEMENT;

/**
 * A file without a name, through which a process shares its lease with its children: they can read it while all of the
 * process is frozen, and a thread can write it while the event loop is blocked.
 */
export function openSharedLease(): { readonly fd: number } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'agent-lease-'));
  try {
    const fd = openSync(join(folder, 'lease'), 'wx+', 0o600);
    return { fd, [Symbol.dispose]: () => closeSync(fd) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function writeSharedLease(fd: number, { stop_at, end_at }: SharedLease): void {
  const values = BigInt64Array.of(BigInt(Math.floor(stop_at)), BigInt(Math.floor(end_at)));
  writeSync(fd, new Uint8Array(values.buffer), 0, BYTES, 0);
}

/** `undefined` if there is no lease, or none yet. */
export function readSharedLease(fd: number): SharedLease | undefined {
  const values = new BigInt64Array(2);
  if (readSync(fd, new Uint8Array(values.buffer), 0, BYTES, 0) < BYTES) return undefined;
  return { stop_at: Number(values[0]), end_at: Number(values[1]) };
}
