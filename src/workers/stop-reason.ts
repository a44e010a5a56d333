import type { RunError } from '../schemas/threads.ts';

/** Why an attempt must stop before its graph has ended; the abort reason that the graph's nodes see. */
export class StopReason extends Error {
  readonly kind: 'cancelled' | 'timeout' | 'shutdown' | 'lease lost';
  /** What the client is told; null where it is told nothing. */
  readonly detail: RunError | null;

  constructor(kind: StopReason['kind'], detail: RunError | null = null) {
    super(detail?.message || kind);
    this.name = 'AbortError';
    this.kind = kind;
    this.detail = detail;
  }
}
