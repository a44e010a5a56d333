import { format } from 'node:util';
import type { Logger, LogLine } from '../../core/logger.ts';
import type { RunningNode } from '../../graphs/observability/running-node.ts';

/** Methods of `console` that write a text, by our levels. */
const LEVELS: Readonly<Record<string, LogLine['level']>> = {
  debug: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
};

/** Sends what user code writes with `console` to the log, with the run, thread and node that wrote it. */
export function redirectConsole(logger: Logger, runningNode: () => RunningNode | undefined): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    Object.assign(globalThis.console, {
      [method]: (...values: unknown[]) => logger[level](format(...values), { ...runningNode() }),
    });
  }
}
