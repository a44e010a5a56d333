import { appendFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { tryOrUndefined } from '../../../core/failure.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import { ifMissing } from './build-files.ts';

/** A log line. `id`: its number in the file, from 1; in the second of several files such as `1.1`. */
export interface LoggedLine {
  readonly id: string;
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
}

/** Maximum size of a build log, bytes: endless output must not fill the disk. */
const MAX_BYTES = 8 * 1024 ** 2;
/** Size of each of the two files of a log that keeps its newest lines, bytes. */
const MAX_PART_BYTES = MAX_BYTES / 2;
const MAX_MESSAGE_LENGTH = 8 * 1024;
const TRUNCATED = 'The log is full: further lines are not stored.';
/** Reserve for the error of a failed build in a full log, bytes. */
const ERROR_BYTES = 64 * 1024;

/** A log of JSON lines. Each line is in the file before `write` returns, so that it survives a crash of the server. */
export interface LogFile {
  write(line: Omit<LoggedLine, 'id'>): void;
  /** Oldest first; empty if there is no log. */
  read(): Promise<LoggedLine[]>;
}

/** A build log: keeps the first lines, which show how it began, and accepts errors even when full. */
export function buildLog(path: string): LogFile {
  let bytes: number | undefined;

  function append(line: Omit<LoggedLine, 'id'>): void {
    bytes = (bytes ?? 0) + appendLine(path, line);
  }

  return {
    write(line: Omit<LoggedLine, 'id'>): void {
      bytes ??= openFile(path);
      const isFull = bytes > MAX_BYTES;
      if (isFull && (line.level !== 'ERROR' || bytes > MAX_BYTES + ERROR_BYTES)) return;
      append(line);
      if (!isFull && bytes > MAX_BYTES) append({ ...line, level: 'WARNING', message: TRUNCATED });
    },

    read: () => readLines(path, ''),
  };
}

/**
 * The log of a serving revision: keeps the newest lines, in the newest two of the files `path`, `path.1`, `path.2` and
 * so on.
 */
export function serverLog(path: string): LogFile {
  let newest: { readonly part: number; bytes: number } | undefined;
  const pathOf = (part: number) => (part === 0 ? path : `${path}.${part}`);

  function open(part: number): { readonly part: number; bytes: number } {
    return { part, bytes: openFile(pathOf(part)) };
  }

  return {
    write(line) {
      newest ??= open(partsOf(path, tryOrUndefined(() => readdirSync(dirname(path))) ?? []).at(-1) ?? 0);
      if (newest.bytes > MAX_PART_BYTES) {
        rmSync(pathOf(newest.part - 1), { force: true });
        newest = open(newest.part + 1);
      }
      newest.bytes += appendLine(pathOf(newest.part), line);
    },

    async read() {
      const parts = partsOf(path, await readdir(dirname(path)).catch(() => []));
      const lines = await Promise.all(
        parts.map((part) => readLines(pathOf(part), part === 0 ? '' : `${part}.`)),
      );
      return lines.flat();
    },
  };
}

/** File numbers of a log that keeps its newest lines, oldest first. */
function partsOf(path: string, files: readonly string[]): number[] {
  const name = basename(path);
  const parts = files.flatMap((file) => {
    if (file === name) return [0];
    const number = file.startsWith(`${name}.`) ? Number(file.slice(name.length + 1)) : Number.NaN;
    return Number.isSafeInteger(number) ? [number] : [];
  });
  return parts.sort((one, other) => one - other);
}

/** Creates the folder of a log. Returns the size of the file, bytes; 0 if it does not exist yet. */
function openFile(path: string): number {
  makeFolder(dirname(path), 0o700);
  return tryOrUndefined(() => statSync(path).size) ?? 0;
}

/** Returns the size of the line, bytes. */
function appendLine(path: string, line: Omit<LoggedLine, 'id'>): number {
  const text = `${JSON.stringify({ ...line, message: line.message.slice(0, MAX_MESSAGE_LENGTH) })}\n`;
  appendFileSync(path, text, { mode: 0o600 });
  return Buffer.byteLength(text);
}

async function readLines(path: string, id_prefix: string): Promise<LoggedLine[]> {
  const text = await readFile(path, 'utf8').catch(ifMissing(''));
  return text.split('\n').flatMap((line, at) => {
    // The last line may be truncated.
    const parsed = line === '' ? undefined : tryOrUndefined(() => JSON.parse(line) as Omit<LoggedLine, 'id'>);
    return parsed ? [{ id: `${id_prefix}${at + 1}`, ...parsed }] : [];
  });
}
