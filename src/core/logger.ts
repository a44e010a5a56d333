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

/** A logger that passes each line on, at every level and as it is given. What `log` throws is ignored. */
export function customLogger(log: (line: LogLine) => void, bound: LogFields = {}): Logger {
  const emit = (level: LogLine['level']) => (message: string, fields?: LogFields) => {
    tryOrUndefined(() => log({ level, message, fields: { ...bound, ...fields } }));
  };
  return {
    debug: emit('debug'),
    info: emit('info'),
    warn: emit('warn'),
    error: emit('error'),
    with: (fields) => customLogger(log, { ...bound, ...fields }),
  };
}

export const silentLogger: Logger = customLogger(() => {});
