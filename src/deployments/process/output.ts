import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { LineSplitter } from '../../core/lines.ts';
import { truncateText } from '../../core/text.ts';

/** Limit of a line, bytes. */
const MAX_LINE_BYTES = 2000;
/** A command that prints more is not logged any further, code units. */
const MAX_LOGGED = 4 * 1024 * 1024;
/** How much of the end of its output is kept to find out why a command failed, code units. */
const TAIL = 64 * 1024;
/** Limit of a captured stdout, code units. */
const MAX_CAPTURED = 16 * 1024 * 1024;

/** Colors and cursor movements, which some programs print whatever they are told. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is removed
const CONTROL_SEQUENCE = /\u001b\[[\d;?]{0,20}[A-Za-z]/g;

/** What a command prints: its lines as they come, and their end. */
export class CommandOutput {
  readonly #onLine: (line: string) => void;
  #logged = 0;
  #tail = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** The last lines of all streams, in the order in which they came. */
  get tail(): string {
    return this.#tail;
  }

  /** Reads a stream by lines. A carriage return ends a line too: progress bars use it. */
  follow(stream: Readable): void {
    const lines = new LineSplitter({
      max_length: MAX_LINE_BYTES,
      separator: /\r\n|\n|\r/,
      onLine: (line, whole_length) => this.#add(line, whole_length),
    });
    stream.on('data', (chunk: Buffer) => lines.write(chunk));
    stream.on('end', () => lines.end());
    // The other end is gone; the exit of the process says why.
    stream.on('error', () => {});
  }

  #add(text: string, whole_length: number): void {
    const plain = text.replace(CONTROL_SEQUENCE, '').trimEnd();
    const cut = whole_length - text.length;
    const line = truncateText(plain, MAX_LINE_BYTES, plain.length + cut);
    if (!line) return;
    this.#tail = `${this.#tail}${line}\n`.slice(-TAIL);
    if (this.#logged > MAX_LOGGED) return;
    this.#logged += line.length;
    this.#onLine(this.#logged > MAX_LOGGED ? 'More output of this command is left out.' : line);
  }
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
