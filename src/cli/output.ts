import { timestamp } from '../core/clock.ts';
import { errorParts, errorStack, isErrorLike } from '../core/failure.ts';
import type { LogFields, LogLine } from '../core/logger.ts';
import { redactCredentials } from '../core/redact.ts';
import { withCodeFrame } from './code-frame.ts';

const COLORS: Record<LogLine['level'], string> = { debug: '2', info: '36', warn: '33', error: '31' };

/** One JSON object a line, for machines. */
export function jsonLine({ level, message, fields }: LogLine, now: number): string {
  const head = { time: timestamp(now), level, message: redactCredentials(message) };
  // Twice: first in the line, and no field can take its place.
  return JSON.stringify({ ...head, ...fields, ...head }, safeReplacer());
}

export interface ReadableStyle {
  readonly color: boolean;
  /** Shows the user's own code where it threw, with paths as they are seen from this folder. */
  readonly code_of?: string | undefined;
}

/** Time of day, level, message, `name=value` pairs; the stack of an error goes on lines of its own. */
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
 * Runs a program to its end and until its output is written: a pipe may take it later than the process ends. When
 * nobody reads the output any more, the program goes on without it.
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

/** As it is when it is one word; else as JSON, which also keeps line breaks and escape codes out of a terminal. */
function readable(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return redactCredentials(value);
  return oneLine(JSON.stringify(value, safeReplacer()) ?? 'undefined');
}

/** User data may reach a message: it must not be able to forge a line or to drive the terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${oneLine(line)}`)
    .join('\n');
}

/** A replacer with which `JSON.stringify` throws on nothing: errors, big integers and circles become text. */
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
