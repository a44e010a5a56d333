import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from '../../core/clock.ts';
import { errorStack, isErrorLike, tryOrUndefined } from '../../core/failure.ts';
import { LineSplitter } from '../../core/lines.ts';
import type { LogFields } from '../../core/logger.ts';
import { userLocation } from '../../core/stack-frames.ts';
import { truncateText } from '../../core/text.ts';
import type { OutputLine, OutputSink } from '../graph.ts';
import { OutputBuffer } from './output-buffer.ts';

/** Limit of a line, bytes: twice that of a logged one, which is cut again once secrets are masked. */
const MAX_LINE_BYTES = 16 * 1024;
/** Frames of a stack that are searched for user code; each costs about a microsecond. */
const FRAMES = 8;

type Stream = 'stdout' | 'stderr';

export interface RunOutputOptions {
  /** Receives what the run's code prints. */
  readonly sink: OutputSink;
  /** The sink shows it to operators; otherwise it goes where it would go without the server, too. */
  readonly is_logged: boolean;
}

/** Output of the code of one attempt, as lines. */
export class RunOutput implements Disposable {
  readonly is_logged: boolean;
  readonly #buffer: OutputBuffer;
  /** Line splitters by stream. */
  readonly #lines = new Map<Stream, LineSplitter>();
  #node: string | undefined;
  #isClosed = false;

  constructor({ sink, is_logged }: RunOutputOptions) {
    this.is_logged = is_logged;
    this.#buffer = new OutputBuffer(sink);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The run prints too fast: a part of its lines is dropped. */
  get isHolding(): boolean {
    return this.#buffer.isHolding;
  }

  /** `whole_length`: that of the message, if it is only the beginning of one. */
  write(line: Omit<OutputLine, 'time'>, whole_length = line.message.length): void {
    // A code unit takes at least one byte.
    const beginning = line.message.slice(0, MAX_LINE_BYTES).toWellFormed();
    const message = truncateText(beginning, MAX_LINE_BYTES, whole_length);
    this.#buffer.add({ ...line, message, time: systemClock.now() });
  }

  /** A message with fields; those that are errors become their stacks. */
  log(level: OutputLine['level'], message: string, fields: LogFields, node: string | undefined): void {
    const plain = Object.entries(fields).map(([name, value]) => [
      name,
      isErrorLike(value) ? errorStack(value) : value,
    ]);
    const json = tryOrUndefined(() => JSON.stringify(Object.fromEntries(plain)));
    const given = plain.length === 0 || json === undefined ? undefined : truncatedJson(json);
    this.write({ level, message, source: 'logger', node, ...(given !== undefined && { fields: given }) });
  }

  /** What is written to a stream: a line for each line break. Blank lines are left out. */
  text(stream: Stream, chunk: string | Uint8Array, node: string | undefined): void {
    const lines = this.#lines.get(stream) ?? this.#open(stream);
    this.#node = node;
    lines.write(chunk);
  }

  /** Passes on all that was printed; what comes later does not belong to the attempt. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    for (const lines of this.#lines.values()) lines.end();
    this.#isClosed = true;
    this.#buffer[Symbol.dispose]();
  }

  /** Passes on what is held back: the process ends. */
  flush(): void {
    this.#buffer.flush();
  }

  #open(stream: Stream): LineSplitter {
    const level = stream === 'stdout' ? 'info' : 'warn';
    const lines = new LineSplitter({
      max_length: MAX_LINE_BYTES,
      onLine: (text, whole_length) => {
        const message = text.endsWith('\r') ? text.slice(0, -1) : text;
        if (message.trim() === '') return;
        const cut = whole_length - text.length;
        this.write({ level, message, source: stream, node: this.#node }, message.length + cut);
      },
    });
    this.#lines.set(stream, lines);
    return lines;
  }
}

/** JSON that remains JSON. */
function truncatedJson(json: string): string {
  return json.length <= MAX_LINE_BYTES ? json : JSON.stringify({ cut: truncateText(json, MAX_LINE_BYTES) });
}

const storage = new AsyncLocalStorage<RunOutput>();

/** Calls `act`; what it prints, and whatever it starts, goes to this output. */
export function withRunOutput<T>(output: RunOutput, act: () => T): T {
  return storage.run(output, act);
}

/** The output of the attempt whose code is calling, until the attempt has ended. */
export function currentRunOutput(): RunOutput | undefined {
  const output = storage.getStore();
  return output?.isClosed ? undefined : output;
}

/** `file:line:column` of the call of `callee` in the project; `undefined` if a library called it. */
export function callerLocation(callee: (...args: never[]) => unknown): string | undefined {
  const before = Error.stackTraceLimit;
  const holder: { stack?: string } = {};
  Error.stackTraceLimit = FRAMES;
  Error.captureStackTrace(holder, callee);
  Error.stackTraceLimit = before;
  return userLocation(holder.stack);
}
