import { Counter } from 'prom-client';
import type { TraceStats } from '../../schemas/system.ts';
import { type Meters, OURS } from './meters.ts';

/** Counts the spans of runs that this process has sent, and those that it dropped because nobody took them. */
export function measureTraces(stats: () => TraceStats, { registry }: Meters): void {
  const count = (what: 'sent' | 'dropped', help: string) =>
    new Counter({
      name: `${OURS}spans_${what}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(stats()[what]);
      },
    });
  count('sent', 'Spans that the collector has taken.');
  count('dropped', 'Spans that were dropped: the collector failed, or too many waited for it.');
}
