import { type LineFormat, lineLogger } from '../../src/cli/output.ts';
import type { LogLine } from '../../src/core/logger.ts';

export const JSON_LINES: LineFormat = { level: 'debug', json: true, color: false };
export const READABLE: LineFormat = { level: 'debug', json: false, color: false };

/** What the server prints for a line, without its line break. `now`: epoch ms. */
export async function writtenLine(
  format: LineFormat,
  { level, message, fields }: LogLine,
  now = 0,
): Promise<string> {
  const written: string[] = [];
  const clock = { now: () => now, monotonic: () => now };
  const logger = await lineLogger(format, (text) => written.push(text), { clock });
  logger[level](message, fields);
  if (written.length !== 1 || !written[0]?.endsWith('\n')) throw new Error('expected one line');
  return written[0].slice(0, -1);
}
