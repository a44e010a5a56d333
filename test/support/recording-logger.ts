import { customLogger, type Logger, type LogLine } from '../../src/core/logger.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Records the lines at `level` and above, with errors as objects. */
export function recordingLogger(level: LogLine['level'], record: (line: LogLine) => void): Logger {
  return customLogger((line) => {
    if (LEVELS.indexOf(line.level) >= LEVELS.indexOf(level)) record(line);
  });
}
