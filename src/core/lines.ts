import { StringDecoder } from 'node:string_decoder';

export interface LineOptions {
  /** Longer lines are cut to this length, code units. */
  readonly max_length: number;
  /** What ends a line. */
  readonly separator?: string | RegExp;
  /** Receives each line, with its length before it was cut. */
  readonly onLine: (line: string, whole_length: number) => void;
}

/**
 * Splits a stream into lines, in bounded memory. The rest of a line that is too long is dropped: passed on as a line of its
 * own, it could begin with the second half of a secret, which no mask knows.
 */
export class LineSplitter {
  readonly #options: LineOptions;
  readonly #decoder = new StringDecoder('utf8');
  /** The line that has not ended yet. */
  #line = '';
  #length = 0;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  write(chunk: string | Uint8Array): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(Buffer.from(chunk));
    const [first = '', ...others] = text.split(this.#options.separator ?? '\n');
    this.#add(first);
    for (const line of others) {
      this.end();
      this.#add(line);
    }
  }

  /** Passes on the line that has not ended. */
  end(): void {
    const [line, length] = [this.#line, this.#length];
    this.#line = '';
    this.#length = 0;
    this.#options.onLine(line, length);
  }

  #add(text: string): void {
    this.#line += text.slice(0, this.#options.max_length - this.#line.length);
    this.#length += text.length;
  }
}
