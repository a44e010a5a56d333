import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { tryOrUndefined } from '../../core/failure.ts';

/** A line of a log. `id`: its number in the file, from 1. */
export interface LoggedLine {
  readonly id: string;
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
}

/** A build that prints without end must not fill the disk, bytes. */
const MAX_BYTES = 8 * 1024 ** 2;
const MAX_MESSAGE_LENGTH = 8 * 1024;
const TRUNCATED = 'The log is full: further lines are not stored.';

export type LogFile = ReturnType<typeof buildLog>;

/** A log as JSON lines. Each is in the file before `write` returns, so that it outlives a crash of the server. */
export function buildLog(path: string) {
  let bytes: number | undefined;

  function append(line: object): void {
    const text = `${JSON.stringify(line)}\n`;
    appendFileSync(path, text, { mode: 0o600 });
    bytes = (bytes ?? 0) + Buffer.byteLength(text);
  }

  return {
    write(line: Omit<LoggedLine, 'id'>): void {
      if (bytes === undefined) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        bytes = tryOrUndefined(() => statSync(path).size) ?? 0;
      }
      if (bytes > MAX_BYTES) return;
      append({ ...line, message: line.message.slice(0, MAX_MESSAGE_LENGTH) });
      if (bytes > MAX_BYTES) append({ ...line, level: 'WARNING', message: TRUNCATED });
    },

    /** Oldest first; empty if there is no log. */
    async read(): Promise<LoggedLine[]> {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return '';
      });
      return text.split('\n').flatMap((line, at) => {
        // The last one may be cut off.
        const parsed =
          line === '' ? undefined : tryOrUndefined(() => JSON.parse(line) as Omit<LoggedLine, 'id'>);
        return parsed ? [{ id: String(at + 1), ...parsed }] : [];
      });
    },
  };
}
