import { errorParts, errorStack } from '../core/failure.ts';
import { type LoggerOptions, logger } from '../core/json-logger.ts';
import type { Logger, LogLevel } from '../core/logger.ts';
import type { RecentLog } from '../core/recent-log.ts';
import { redactCredentials } from '../core/redact.ts';
import { withCodeFrame } from './code-frame.ts';

/** What lines of the log look like. */
export interface LineFormat {
  readonly level: LogLevel;
  /** JSON lines, for machines; otherwise readable ones. */
  readonly json: boolean;
  readonly color: boolean;
  /** Adds a code frame of the user's code to readable lines, with paths relative to this folder. */
  readonly code_of?: string | undefined;
}

/** A logger whose lines go to `write`, each with its line break, and as JSON to `recent_log`. */
export async function lineLogger(
  { level, json, color, code_of }: LineFormat,
  write: (text: string) => void,
  { recent_log, ...options }: LoggerOptions & { readonly recent_log?: RecentLog } = {},
): Promise<Logger> {
  const destination = (text: (line: string) => string) => ({
    write(line: string) {
      write(text(line));
      recent_log?.add(line);
    },
  });
  if (json)
    return logger(
      level,
      destination((line) => line),
      options,
    );
  // Imported lazily: servers that write JSON do not need it.
  const { readableLines } = await import('./readable-lines.ts');
  const readable = readableLines(color);
  const framed = code_of === undefined ? {} : { errorText: (error: unknown) => framedStack(error, code_of) };
  return logger(level, destination(readable), { ...options, ...framed });
}

function framedStack(error: unknown, folder: string): string {
  return withCodeFrame(errorStack(error), redactCredentials(errorParts(error).message), folder);
}

/**
 * Runs a program and drains stdout: a pipe may still be blocked when the program ends. A closed pipe (EPIPE) does not
 * stop the program.
 */
export async function withOutput(program: () => Promise<number>): Promise<number> {
  process.stdout.on('error', () => {});
  const code = await program();
  await new Promise((written) => process.stdout.write('', written));
  return code;
}
