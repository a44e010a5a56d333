import { tryOrUndefined } from './failure.ts';

/** Structured log sink: a message and fields. Values must not hold secrets; the caller picks what it logs. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same sink with these fields on every line. */
  with(fields: LogFields): Logger;
}

export type LogFields = Record<string, unknown>;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
export type LogLine = { level: Exclude<LogLevel, 'silent'>; message: string; fields: LogFields };

const RANK: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40, silent: 99 };

/**
 * `write` renders and emits a line: JSON in `start`, readable in `dev` (passed in by the CLI). Logging never throws: if
 * a value of user code cannot be rendered, the line is written without its objects.
 */
export function logger(level: LogLevel, write: (line: LogLine) => void, base: LogFields = {}): Logger {
  const emit = (at: LogLine['level']) => (message: string, fields?: LogFields) => {
    if (RANK[at] < RANK[level]) return;
    const line = { level: at, message, fields: { ...base, ...fields } };
    try {
      write(line);
    } catch {
      tryOrUndefined(() => write({ ...line, fields: withoutObjects(line.fields) }));
    }
  };
  return {
    debug: emit('debug'),
    info: emit('info'),
    warn: emit('warn'),
    error: emit('error'),
    with: (fields) => logger(level, write, { ...base, ...fields }),
  };
}

function withoutObjects(fields: LogFields): LogFields {
  const isPlain = (value: unknown) => typeof value !== 'object' || value === null;
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    isPlain(value) ? value : '[unreadable]',
  ]);
  return Object.fromEntries(entries);
}

export const silentLogger: Logger = logger('silent', () => {});
