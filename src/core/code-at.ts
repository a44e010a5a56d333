import { readFileSync, statSync } from 'node:fs';
import { redactCredentials } from './redact.ts';
import type { StackFrame } from './stack-frames.ts';

/** Lines before and after the one that threw. */
const CONTEXT_LINES = 2;
/** A larger file is generated code. */
const MAX_FILE_BYTES = 1_000_000;
const MAX_LINE_LENGTH = 160;

/**
 * The source around a place, with a mark at its line and column. Returns `undefined` if the file is missing, too large, or
 * too short for that line.
 */
export function codeAt({
  file,
  line,
  column,
}: Pick<StackFrame, 'file' | 'line' | 'column'>): string[] | undefined {
  const text = textOf(file);
  const lines = text?.split('\n') ?? [];
  if (text === undefined || lines[line - 1] === undefined) return undefined;
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + CONTEXT_LINES);
  const width = String(last).length;
  const rows: string[] = [];
  for (let row = first; row <= last; row++) {
    const code = redactCredentials((lines[row - 1] ?? '').slice(0, MAX_LINE_LENGTH));
    rows.push(`${row === line ? '>' : ' '} ${String(row).padStart(width)} | ${code}`.trimEnd());
    if (row === line && column <= MAX_LINE_LENGTH)
      rows.push(`  ${' '.repeat(width)} | ${code.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`);
  }
  return rows;
}

function textOf(file: string): string | undefined {
  try {
    return statSync(file).size > MAX_FILE_BYTES ? undefined : readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
