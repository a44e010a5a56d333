import { relative } from 'node:path';
import { codeAt } from '../core/code-at.ts';
import { firstUserFrame, frameOf, isUserCode, type StackFrame } from '../core/stack-frames.ts';

/** Characters of the message to search for in the stack. */
const MAX_SEARCH_LENGTH = 100;

/**
 * Formats a stack: folds frames of packages, Node and the server into a count, and adds the source of the first user
 * frame with a marker. A stack without user frames stays as it is. Lines of `message`, the error's text, never count as
 * frames.
 */
export function withCodeFrame(stack: string, message: string, folder: string): string {
  const start = stack.indexOf(message.slice(0, MAX_SEARCH_LENGTH));
  const text_end = start < 0 ? 0 : start + message.length;
  const frames_start = stack.indexOf('\n', text_end);
  if (frames_start < 0) return stack;
  const text = stack.slice(0, frames_start);
  const frames = stack.slice(frames_start + 1);
  const frame = firstUserFrame(frames);
  if (frame === undefined) return stack;
  const code = codeAt(frame);
  return [text, ...folded(frames, folder), ...(code === undefined ? [] : ['', ...code])].join('\n');
}

function folded(stack: string, folder: string): string[] {
  const lines: string[] = [];
  let hidden = 0;
  const flush = () => {
    if (hidden > 0) lines.push(`    … ${hidden} ${hidden === 1 ? 'frame' : 'frames'} of packages`);
    hidden = 0;
  };
  for (const line of stack.split('\n')) {
    const isFrame = line.startsWith('    at ');
    const frame = isFrame ? frameOf(line) : undefined;
    if (isFrame && (frame === undefined || !isUserCode(frame))) {
      hidden += 1;
      continue;
    }
    flush();
    lines.push(frame === undefined ? line : withPlace(line, frame, folder));
  }
  flush();
  return lines;
}

function withPlace(line: string, frame: StackFrame, folder: string): string {
  return line.slice(0, frame.start) + relativeLocation(frame, folder) + line.slice(frame.end);
}

/** `src/agent.ts:6:9`, clickable in terminals and editors. */
function relativeLocation(
  { file, line, column }: Pick<StackFrame, 'file' | 'line' | 'column'>,
  folder: string,
): string {
  const path = relative(folder, file);
  return `${path.startsWith('..') ? file : path}:${line}:${column}`;
}
