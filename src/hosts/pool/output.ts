import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { LineSplitter } from '../../core/lines.ts';
import type { Logger } from '../../core/logger.ts';
import { truncateText } from '../../core/text.ts';

/** Limit of a logged line, bytes. */
const MAX_LINE_BYTES = 16 * 1024;

/** Logs what a host writes besides its log: native code, and the last words of Node. */
export function forwardOutput({ stdout, stderr }: ChildProcess, logger: Logger): void {
  const forward = (stream: Readable | null, level: 'info' | 'warn') => {
    if (!stream) return;
    const lines = new LineSplitter({
      max_length: MAX_LINE_BYTES,
      separator: /\r\n|\n|\r/,
      onLine: (line, whole_length) => {
        if (line.trim() !== '') logger[level](truncateText(line, MAX_LINE_BYTES, whole_length));
      },
    });
    stream.on('data', (chunk: Buffer) => lines.write(chunk));
    stream.on('end', () => lines.end());
    stream.on('error', () => {});
  };
  forward(stdout, 'info');
  forward(stderr, 'warn');
}
