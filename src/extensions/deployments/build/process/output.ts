import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { LineSplitter } from '../../../../core/lines.ts';
import { truncateText } from '../../../../core/text.ts';

/** Maximum length of a line, bytes. */
const MAX_LINE_BYTES = 2000;
/**
 * Maximum logged output of a stream, bytes; beyond it, only the end is logged. A build log has room for four such
 * streams.
 */
const MAX_LOGGED_BYTES = 1024 * 1024;
const MAX_LOGGED_LINES = 10_000;
/** How much of the end of the output is kept to explain a failure, code units. */
const TAIL = 64 * 1024;
/** How much of the end of a longer stream is logged, bytes and lines: it usually explains a failure. */
const MAX_END_BYTES = 64 * 1024;
const MAX_END_LINES = 200;
/** Maximum length of a captured stdout, code units. */
const MAX_CAPTURED = 16 * 1024 * 1024;

/** A carriage return also ends a line: progress bars use it. */
const LINE_BREAK = /\r\n|\n|\r/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is removed
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Output of a command: passes its lines on as they arrive, and keeps the last ones. */
export class CommandOutput {
  readonly #onLine: (line: string) => void;
  readonly #streams: StreamOutput[] = [];
  #last: string[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** The last lines of all streams, in order of arrival. */
  get tail(): string {
    return this.#last.join('').slice(-TAIL);
  }

  /** Reads a stream line by line. */
  follow(stream: Readable): void {
    const output = new StreamOutput({
      onLine: (line) => this.#onLine(line),
      onText: (line) => this.#remember(line),
    });
    this.#streams.push(output);
    stream.on('data', (chunk: Buffer) => output.write(chunk));
    stream.on('end', () => output.end());
    // The other end closed; the exit of the process gives the reason.
    stream.on('error', () => {});
  }

  /** Stops reading, and logs the end of the output that was omitted. */
  end(): void {
    for (const stream of this.#streams) stream.end();
  }

  #remember(line: string): void {
    this.#last.push(`${line}\n`);
    // Trim rarely, or each line would cost as much as all of them.
    if (this.#last.length > 2 * MAX_LOGGED_LINES) this.#last = this.#last.slice(-MAX_LOGGED_LINES);
  }
}

interface StreamOptions {
  /** Receives the lines to log. */
  readonly onLine: (line: string) => void;
  /** Receives every printed line that was parsed as a line. */
  readonly onText: (line: string) => void;
}

/**
 * Passes on the lines of a stream up to a limit, and later those at its end. In between it only buffers bytes:
 * splitting the output of `yes` into lines would take all the time of the server.
 */
class StreamOutput {
  readonly #options: StreamOptions;
  readonly #lines = new LineSplitter({
    max_length: MAX_LINE_BYTES,
    separator: LINE_BREAK,
    onLine: (text, whole_length) => this.#add(plainLine(text, whole_length)),
  });
  #bytes = 0;
  #count = 0;
  #end: Buffer[] = [];
  #end_bytes = 0;
  #hasEnded = false;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  write(chunk: Buffer): void {
    if (this.#isFull) this.#keep(chunk);
    else this.#lines.write(chunk);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#isFull) this.#printEnd();
    else this.#lines.end();
  }

  #printEnd(): void {
    const lines = lastLines(Buffer.concat(this.#end));
    if (lines.length > 0) this.#options.onLine('The last lines:');
    for (const line of lines) {
      this.#options.onText(line);
      this.#options.onLine(line);
    }
  }

  get #isFull(): boolean {
    return this.#bytes > MAX_LOGGED_BYTES || this.#count > MAX_LOGGED_LINES;
  }

  #add(line: string): void {
    if (!line) return;
    this.#options.onText(line);
    if (this.#isFull) return;
    this.#bytes += Buffer.byteLength(line);
    this.#count += 1;
    this.#options.onLine(
      this.#isFull ? 'Further output of this command is omitted, except for its last lines.' : line,
    );
  }

  #keep(chunk: Buffer): void {
    this.#end.push(chunk);
    this.#end_bytes += chunk.length;
    while (this.#end_bytes - (this.#end[0] as Buffer).length >= MAX_END_BYTES)
      this.#end_bytes -= (this.#end.shift() as Buffer).length;
  }
}

/**
 * Drops the first line, which may be cut: it could begin with the second half of a secret, which no mask recognizes.
 */
function lastLines(end: Buffer): string[] {
  const lines = end.subarray(-MAX_END_BYTES).toString('utf8').split(LINE_BREAK).slice(1);
  const plain = lines
    .slice(-MAX_END_LINES)
    .map((line) => plainLine(line.slice(0, MAX_LINE_BYTES), line.length));
  return plain.filter(Boolean);
}

/** Removes colors, cursor movements and whatever else would change the terminal that shows the line. */
function plainLine(text: string, whole_length: number): string {
  const plain = stripVTControlCharacters(text).replace(CONTROL_CHARACTERS, '').trimEnd();
  return truncateText(plain, MAX_LINE_BYTES, plain.length + whole_length - text.length);
}

/** Collects a whole stream, up to a limit. */
export function captured(stream: Readable): () => string {
  const decoder = new StringDecoder('utf8');
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    if (text.length < MAX_CAPTURED) text += decoder.write(chunk);
  });
  stream.on('error', () => {});
  return () => text;
}
