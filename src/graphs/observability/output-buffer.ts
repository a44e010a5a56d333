import { systemClock } from '../../core/clock.ts';
import { after, type Timer } from '../../core/timers.ts';
import type { OutputLine, OutputSink } from '../graph.ts';

/** Lines of a run that are kept with it; more of them at once are dropped, the oldest first. */
export const MAX_LINES = 1000;
/** The same in characters of their messages. */
export const MAX_CHARACTERS = 256 * 1024;

/** Lines per window that are passed on at once. */
const BURST = 200;
/** Then lines are held back until the window ends, ms: at most `MAX_LINES` of them are passed on. */
const WINDOW_MS = 500;

/** The newest lines, within the limits. */
export class NewestLines<Line extends { readonly message: string }> {
  lines: Line[] = [];
  dropped = 0;
  #first = 0;
  #characters = 0;

  get length(): number {
    return this.lines.length - this.#first;
  }

  push(line: Line): void {
    this.lines.push(line);
    this.#characters += line.message.length;
    while (this.length > MAX_LINES || (this.#characters > MAX_CHARACTERS && this.length > 1)) {
      this.#characters -= (this.lines[this.#first] as Line).message.length;
      this.#first += 1;
      this.dropped += 1;
    }
    // Amortised: a shift of the whole list for each line would be quadratic.
    if (this.#first > MAX_LINES) this.#compact();
  }

  /** Empties it. */
  take(): { lines: Line[]; dropped: number } {
    this.#compact();
    const { lines, dropped } = this;
    this.lines = [];
    this.dropped = 0;
    this.#characters = 0;
    return { lines, dropped };
  }

  #compact(): void {
    this.lines = this.lines.slice(this.#first);
    this.#first = 0;
  }
}

/**
 * Passes lines on at once, so that those before a crash are not lost. Of a run that prints in a loop it passes on a part:
 * the log, the connection and the database are shared with other runs.
 */
export class OutputBuffer implements Disposable {
  readonly #sink: OutputSink;
  readonly #held = new NewestLines<OutputLine>();
  #window_started = Number.NEGATIVE_INFINITY;
  #passed = 0;
  #timer: Timer | undefined;

  constructor(sink: OutputSink) {
    this.#sink = sink;
  }

  /** The run prints too fast. */
  get isHolding(): boolean {
    return this.#timer !== undefined;
  }

  add(line: OutputLine): void {
    const now = systemClock.monotonic();
    if (now - this.#window_started >= WINDOW_MS && this.#timer === undefined) {
      this.#window_started = now;
      this.#passed = 0;
    }
    if (this.#passed < BURST) {
      this.#passed += 1;
      this.#sink({ lines: [line], dropped: 0 });
      return;
    }
    this.#held.push(line);
    this.#timer ??= after(Math.max(1, this.#window_started + WINDOW_MS - now), () => this.flush()).unref();
  }

  /** Passes on what is held back. A run that prints on waits a window again. */
  flush(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#held.length === 0) return;
    this.#window_started = systemClock.monotonic();
    this.#sink(this.#held.take());
  }

  [Symbol.dispose](): void {
    this.flush();
  }
}
