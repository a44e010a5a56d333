import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { LineSplitter } from '../../core/lines.ts';
import { truncateText } from '../../core/text.ts';

/** Limit of a line, bytes. */
const MAX_LINE_BYTES = 2000;
/** A stream that prints more is not logged any further until it ends: the log of a build has room for four of them. */
const MAX_LOGGED_BYTES = 1024 * 1024;
const MAX_LOGGED_LINES = 10_000;
/** How much of the end of its output is kept to find out why a command failed, code units. */
const TAIL = 64 * 1024;
/** Of the end of a stream that printed more, bytes and lines: there it says why it failed. */
const MAX_END_BYTES = 64 * 1024;
const MAX_END_LINES = 200;
/** Limit of a captured stdout, code units. */
const MAX_CAPTURED = 16 * 1024 * 1024;

/** A carriage return ends a line too: progress bars use it. */
const LINE_BREAK = /\r\n|\n|\r/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is removed
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** What a command prints: its lines as they come, and their end. */
export class CommandOutput {
  readonly #onLine: (line: string) => void;
  readonly #streams: StreamOutput[] = [];
  #last: string[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** The last lines of all streams, in the order in which they came. */
  get tail(): string {
    return this.#last.join('').slice(-TAIL);
  }

  /** Reads a stream by lines. */
  follow(stream: Readable): void {
    const output = new StreamOutput({
      onLine: (line) => this.#onLine(line),
      onText: (line) => this.#remember(line),
    });
    this.#streams.push(output);
    stream.on('data', (chunk: Buffer) => output.write(chunk));
    stream.on('end', () => output.end());
    // The other end is gone; the exit of the process says why.
    stream.on('error', () => {});
  }

  /** No more is read: logs the end of what was not logged. */
  end(): void {
    for (const stream of this.#streams) stream.end();
  }

  #remember(line: string): void {
    this.#last.push(`${line}\n`);
    // Rarely, or each line would cost as much as all of them.
    if (this.#last.length > 2 * MAX_LOGGED_LINES) this.#last = this.#last.slice(-MAX_LOGGED_LINES);
  }
}

interface StreamOptions {
  /** Receives the lines to log. */
  readonly onLine: (line: string) => void;
  /** Receives each line that was printed, as far as lines are told apart. */
  readonly onText: (line: string) => void;
}

/**
 * The lines of a stream up to a limit, and then those at its end. In between it only keeps bytes: to tell the lines of
 * `yes` apart would take all the time that the server has.
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
    this.#options.onLine(this.#isFull ? 'More output of this command is left out, but for its end.' : line);
  }

  #keep(chunk: Buffer): void {
    this.#end.push(chunk);
    const bytes = () => this.#end.reduce((sum, { length }) => sum + length, 0);
    while (this.#end.length > 1 && bytes() - (this.#end[0] as Buffer).length >= MAX_END_BYTES)
      this.#end.shift();
  }
}

/** The first may have begun before: with the second half of a secret, which no mask knows. */
function lastLines(end: Buffer): string[] {
  const lines = end.subarray(-MAX_END_BYTES).toString('utf8').split(LINE_BREAK).slice(1);
  const plain = lines
    .slice(-MAX_END_LINES)
    .map((line) => plainLine(line.slice(0, MAX_LINE_BYTES), line.length));
  return plain.filter(Boolean);
}

/** Without colors, cursor movements and whatever else would change the terminal that shows it. */
function plainLine(text: string, whole_length: number): string {
  const plain = stripVTControlCharacters(text).replace(CONTROL_CHARACTERS, '').trimEnd();
  return truncateText(plain, MAX_LINE_BYTES, plain.length + whole_length - text.length);
}

/** Collects a stream whole, up to a limit. */
export function captured(stream: Readable): () => string {
  const decoder = new StringDecoder('utf8');
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    if (text.length < MAX_CAPTURED) text += decoder.write(chunk);
  });
  stream.on('error', () => {});
  return () => text;
}
