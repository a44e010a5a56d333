import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Logger } from '../../core/logger.ts';
import { truncateText } from '../../core/text.ts';

/** Limit of a logged line, bytes. */
const MAX_LINE_BYTES = 16 * 1024;

/** Logs what a host writes besides its log: native code, and the last words of Node. */
export function forwardOutput({ stdout, stderr }: ChildProcess, logger: Logger): void {
  const forward = (stream: Readable | null, level: 'info' | 'warn') => {
    if (!stream) return;
    const lines = createInterface(stream).on('error', () => {});
    lines.on('line', (line) => {
      if (line.trim() !== '') logger[level](truncateText(line, MAX_LINE_BYTES));
    });
  };
  forward(stdout, 'info');
  forward(stderr, 'warn');
}
