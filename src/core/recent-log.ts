import { type Clock, systemClock } from './clock.ts';
import { truncateText } from './text.ts';

/** Bounds of what is kept: lines, and their length altogether, in UTF-16 units of at most two bytes. */
export const MAX_LINES = 1000;
export const MAX_LENGTH = 512 * 1024;
/** A longer line is cut to its message, and that to `MAX_MESSAGE_BYTES`. */
const MAX_LINE_LENGTH = 16 * 1024;
const MAX_MESSAGE_BYTES = 8 * 1024;

/** Numbers of lines begin at a multiple of it, with which the ids of server-sent events keep to 15 digits. */
const LINES_OF_LOG = 1e6;

export interface RecentLine {
  readonly seq: number;
  /** As it was written: JSON, without its line break. */
  readonly json: string;
}

/**
 * The newest lines of a log, as they were written. Their numbers follow one another, and are those of no other log: they
 * begin with the moment of its start, to the millisecond.
 */
export class RecentLog {
  /** Epoch ms. */
  readonly since: number;
  readonly #first_seq: number;
  readonly #lines: RecentLine[] = [];
  readonly #listeners = new Set<() => void>();
  #length = 0;
  #last_seq: number;

  constructor(clock: Pick<Clock, 'now'> = systemClock) {
    this.since = clock.now();
    this.#first_seq = 1 + (this.since % 1e9) * LINES_OF_LOG;
    this.#last_seq = this.#first_seq - 1;
  }

  /** Adds a line of JSON. */
  add(line: string): void {
    const json = line.length > MAX_LINE_LENGTH ? withoutFields(line) : line.trimEnd();
    this.#last_seq += 1;
    this.#lines.push({ seq: this.#last_seq, json });
    this.#length += json.length;
    while (this.#lines.length > MAX_LINES || this.#length > MAX_LENGTH)
      this.#length -= this.#lines.shift()?.json.length ?? 0;
    for (const listener of this.#listeners) listener();
  }

  /** Whether `seq` is the number of a line of this log, which may be gone. */
  has(seq: number): boolean {
    return seq >= this.#first_seq && seq <= this.#last_seq;
  }

  /** Before the oldest line that is stored. */
  get start(): number {
    return (this.#lines[0]?.seq ?? this.#last_seq + 1) - 1;
  }

  /** Stored lines after the one with this number. */
  after(seq: number): RecentLine[] {
    return this.#lines.slice(Math.max(0, seq - this.start));
  }

  /** Calls `listener` after each line until it is disposed. */
  onLine(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}

function withoutFields(line: string): string {
  const { time, level, message } = JSON.parse(line);
  return JSON.stringify({
    ...{ time, level, is_cut: true },
    message: truncateText(String(message), MAX_MESSAGE_BYTES),
  });
}
