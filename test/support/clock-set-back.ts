import { vi } from 'vitest';

const now = Date.now;

/** Sets the clock of this process back; LangGraph makes the ids of checkpoints from it. */
export function setClockBack(ms: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => now() - ms);
}

export function restoreClock(): void {
  vi.restoreAllMocks();
}
