import { systemClock } from '../../../core/clock.ts';
import type { CopyReport } from './copy.ts';

/** Minimum interval between two lines about the same table, ms. */
const INTERVAL_MS = 1000;

/**
 * Prints the progress of a copy: the first batch of each table, then one line a second, and each verified
 * table.
 */
export function progressLines(): CopyReport {
  let printed: { table: string; at: number } | undefined;
  return {
    onResume: (rows) => print(`continuing after ${rows} rows`),
    onBatch(table, rows) {
      const now = systemClock.monotonic();
      if (printed?.table === table && now - printed.at < INTERVAL_MS) return;
      printed = { table, at: now };
      print(`${table}: ${rows}`);
    },
    onVerified: (table, rows) => print(`${table}: ${rows} verified`),
    onWarning: (line) => process.stderr.write(`agent-server: ${line}\n`),
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
