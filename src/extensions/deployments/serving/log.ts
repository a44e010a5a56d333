import { type Clock, timestamp } from '../../../core/clock.ts';
import { errorStack, isErrorLike, tryOrUndefined } from '../../../core/failure.ts';
import { customLogger, type Logger } from '../../../core/logger.ts';
import { secretMask } from '../../../core/mask-secrets.ts';
import type { LogFile } from '../storage/log-file.ts';

const LEVELS = { debug: 'DEBUG', info: 'INFO', warn: 'WARNING', error: 'ERROR' } as const;

/** Writes to the server log and, from level `info`, to the log of the revision. Masks secrets in both. */
export function revisionLogger(
  server: Logger,
  { log, secrets, clock }: { log: LogFile; secrets: readonly string[]; clock: Clock },
): Logger {
  const mask = secretMask(secrets);
  const masked = (value: unknown): unknown => {
    if (typeof value === 'string') return mask(value);
    if (isErrorLike(value)) return mask(errorStack(value));
    if (typeof value !== 'object' || value === null) return value;
    return JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? mask(part) : part));
  };
  return customLogger(({ level, message, fields }) => {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    const plain = Object.fromEntries(given.map(([name, value]) => [name, masked(value)]));
    server[level](mask(message), plain);
    if (level === 'debug') return;
    const details = Object.entries(plain).map(([name, value]) =>
      typeof value === 'string' ? `${name}=${value}` : `${name}=${JSON.stringify(value)}`,
    );
    const text = [mask(message), ...details].join(' ');
    // The line is in the server log: a full disk must not fail the code that logs.
    tryOrUndefined(() =>
      log.write({ timestamp: timestamp(clock.now()), level: LEVELS[level], message: text }),
    );
  });
}
