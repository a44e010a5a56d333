import { pino } from 'pino';
import { type Clock, systemClock, timestamp } from './clock.ts';
import { errorStack, isErrorLike } from './failure.ts';
import { customLogger, type LogFields, type Logger, type LogLevel } from './logger.ts';
import { type MaskSecrets, maskSecrets } from './mask-secrets.ts';

/** Receives each line with its line break, before the call that logged it returns. */
export interface LogDestination {
  write(line: string): void;
}

export interface LoggerOptions {
  readonly clock?: Clock;
  /** Text of an error in a field; by default its stack and those of its causes. */
  readonly errorText?: (error: unknown) => string;
  /** By default, masks what has the shape of a secret. */
  readonly mask?: MaskSecrets;
}

const MESSAGE = 'message';
/** Keys that no field overrides. */
const RESERVED: ReadonlySet<string> = new Set(['time', 'level', MESSAGE]);
const UNREADABLE = '[unreadable]';

/**
 * Writes JSON lines at `level` and above, by pino. Secrets are masked in every string. Logging never throws: what cannot
 * be rendered is written as `[unreadable]`.
 */
export function logger(
  level: LogLevel,
  destination: LogDestination,
  { clock = systemClock, errorText = errorStack, mask = maskSecrets }: LoggerOptions = {},
): Logger {
  const lines = pino(
    {
      level,
      base: null,
      messageKey: MESSAGE,
      timestamp: () => `,"time":"${timestamp(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => destination.write(line) },
  );
  const render = { errorText, mask };
  return customLogger(({ level: at, message, fields }) => {
    if (lines.isLevelEnabled(at)) lines[at](plainFields(fields, render), mask(message));
  });
}

type Rendering = Required<Pick<LoggerOptions, 'errorText' | 'mask'>>;

/** Fields as plain data: pino redacts fields by name, not every string, and writes big integers as numbers. */
function plainFields(fields: LogFields, rendering: Rendering): LogFields {
  const plain: LogFields = {};
  for (const name of Object.keys(fields)) {
    if (RESERVED.has(name)) continue;
    plain[name] = plainValue(fields[name], rendering);
  }
  return plain;
}

function plainValue(value: unknown, rendering: Rendering): unknown {
  try {
    if (typeof value === 'string') return rendering.mask(value);
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (isErrorLike(value)) return rendering.mask(rendering.errorText(value));
    return JSON.parse(JSON.stringify(value, safeReplacer(rendering.mask)));
  } catch {
    return UNREADABLE;
  }
}

/** Replacer that makes `JSON.stringify` total: errors, bigints and cycles become text. */
function safeReplacer(mask: MaskSecrets) {
  const ancestors: unknown[] = [];
  return function replace(this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'string') return mask(value);
    if (isErrorLike(value)) return mask(errorStack(value));
    if (typeof value !== 'object' || value === null) return value;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(value)) return '[circle]';
    ancestors.push(value);
    return value;
  };
}
