import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tryOrUndefined } from './failure.ts';
import { PACKAGE_ROOT } from './package-files.ts';

/** Source location of a stack line. */
export interface StackFrame {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** Offsets of the location in the stack line. */
  readonly start: number;
  readonly end: number;
}

/** Folders of the server's own code: stacks of the package name its sources too. */
const SERVER_FOLDERS = ['src/', 'dist/'].map((folder) => join(PACKAGE_ROOT, folder));

/** The location in a stack line; `undefined` if the line names no location, such as `at native`. */
export function frameOf(line: string): StackFrame | undefined {
  // Any other line is text of the error, which may come from a client or a model.
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

/** `undefined` for any URL but that of a local file. */
function fileIn(url: string): string | undefined {
  return url.startsWith('file:///') ? tryOrUndefined(() => fileURLToPath(url)) : undefined;
}

const AT = '    at ';
const ASYNC = 'async ';

/** `    at name (location)`, or `    at location` for an anonymous function. */
function locationIn(line: string): { start: number; end: number } {
  if (line.endsWith(')')) return { start: line.indexOf(' (') + 2, end: line.length - 1 };
  const start = AT.length;
  return { start: line.startsWith(ASYNC, start) ? start + ASYNC.length : start, end: line.length };
}

/** A text with the paths of files below `root` relative to it, as in the stacks of a project's code. */
export function withRelativePaths(text: string, root: string): string {
  if (root === '' || !text.includes(root)) return text;
  return text.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '');
}

/** True for code of the user's project; false for packages, Node and this server. */
export function isUserCode({ file }: StackFrame): boolean {
  return !file.includes('/node_modules/') && !SERVER_FOLDERS.some((folder) => file.startsWith(folder));
}

/** The first frame of a stack in user code. */
export function firstUserFrame(stack: string): StackFrame | undefined {
  return stack
    .split('\n')
    .map(frameOf)
    .find((frame) => frame !== undefined && isUserCode(frame));
}

/** `file:line:column` of the first frame in user code. */
export function userLocation(stack: string | undefined): string | undefined {
  const frame = firstUserFrame(stack ?? '');
  return frame && `${frame.file}:${frame.line}:${frame.column}`;
}
