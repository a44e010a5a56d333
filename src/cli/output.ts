import { timestamp } from '../core/clock.ts';
import { errorParts, errorStack, isErrorLike } from '../core/failure.ts';
import type { LogFields, LogLine } from '../core/logger.ts';
import { redactCredentials } from '../core/redact.ts';
import { withCodeFrame } from './code-frame.ts';

const COLORS: Record<LogLine['level'], string> = { debug: '2', info: '36', warn: '33', error: '31' };

/** One JSON object per line, for machines. */
export function jsonLine({ level, message, fields }: LogLine, now: number): string {
  const head = { time: timestamp(now), level, message: redactCredentials(message) };
  // `head` twice: first in key order, and last so that no field overrides it.
  return JSON.stringify({ ...head, ...fields, ...head }, safeReplacer());
}

export interface ReadableStyle {
  readonly color: boolean;
  /** Adds a code frame of the user's code, with paths relative to this folder. */
  readonly code_of?: string | undefined;
}

/** Time of day, level, message, `name=value` pairs; an error's stack follows on its own lines. */
export function readableLine(
  { level, message, fields }: LogLine,
  now: number,
  { color, code_of }: ReadableStyle,
): string {
  const paint = (code: string, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const time = timestamp(now).slice(11, 19);
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined && !isErrorLike(value));
  const shown = pairs.map(([name, value]) => ` ${paint('2', `${name}=`)}${readable(value)}`).join('');
  const head = `${paint('2', time)} ${paint(COLORS[level], level.padEnd(5))} ${oneLine(redactCredentials(message))}${shown}`;
  const shown_stacks = stacks(fields, code_of);
  return [head, ...shown_stacks.map((stack) => paint('2', indent(stack)))].join('\n');
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

function stacks(fields: LogFields, code_of: string | undefined): string[] {
  const errors = Object.values(fields).filter(isErrorLike);
  return errors.map((error) => {
    const stack = errorStack(error);
    return code_of === undefined
      ? stack
      : withCodeFrame(stack, redactCredentials(errorParts(error).message), code_of);
  });
}

/** A single word as is; otherwise JSON, which also escapes line breaks and terminal escape codes. */
function readable(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return redactCredentials(value);
  return oneLine(JSON.stringify(value, safeReplacer()) ?? 'undefined');
}

/** User data may reach a message: it must not forge a log line or control the terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${oneLine(line)}`)
    .join('\n');
}

/** Replacer that makes `JSON.stringify` total: errors, bigints and cycles become text. */
function safeReplacer() {
  const ancestors: unknown[] = [];
  return function replace(this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'string') return redactCredentials(value);
    if (isErrorLike(value)) return errorStack(value);
    if (typeof value !== 'object' || value === null) return value;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(value)) return '[circle]';
    ancestors.push(value);
    return value;
  };
}
