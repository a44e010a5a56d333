import { fileURLToPath } from 'node:url';
import { tryOrUndefined } from './failure.ts';

/** A place in the code of the project, from a stack. */
export interface StackFrame {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Where in the line of the stack it stands. */
  readonly start: number;
  readonly end: number;
}

/** Everything of the server itself is below this folder. */
const SERVER_ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The place that a line of a stack names; undefined for a line without one, such as `at native`. */
export function frameOf(line: string): StackFrame | undefined {
  // Anything else is text of the error, which may come from a client or a model.
  if (!line.startsWith(AT)) return undefined;
  const { start, end } = locationIn(line);
  const beforeColumn = line.lastIndexOf(':', end - 1);
  const beforeLine = line.lastIndexOf(':', beforeColumn - 1);
  const row = Number(line.slice(beforeLine + 1, beforeColumn));
  const column = Number(line.slice(beforeColumn + 1, end));
  const place = line.slice(start, beforeLine);
  const file = place.startsWith('/') ? place : fileIn(place);
  if (file === undefined || !(row > 0) || !(column > 0)) return undefined;
  return { file, line: row, column, start, end };
}

/** Undefined for the address of anything but a file of this machine. */
function fileIn(url: string): string | undefined {
  return url.startsWith('file:///') ? tryOrUndefined(() => fileURLToPath(url)) : undefined;
}

const AT = '    at ';
const ASYNC = 'async ';

/** `    at name (place)`, or `    at place` where the function has no name. */
function locationIn(line: string): { start: number; end: number } {
  if (line.endsWith(')')) return { start: line.indexOf(' (') + 2, end: line.length - 1 };
  const start = AT.length;
  return { start: line.startsWith(ASYNC, start) ? start + ASYNC.length : start, end: line.length };
}

/** Code of the user's project, not of a package, of Node, or of this server. */
export function isUserCode({ file }: StackFrame): boolean {
  return !file.includes('/node_modules/') && !file.startsWith(SERVER_ROOT);
}

/** The first place of a stack that is the user's. */
export function firstUserFrame(stack: string): StackFrame | undefined {
  return stack
    .split('\n')
    .map(frameOf)
    .find((frame) => frame !== undefined && isUserCode(frame));
}
