import { format } from 'node:util';
import { customLogger, type Logger, type LogLine } from '../../core/logger.ts';
import { callerLocation, currentRunOutput } from './run-output.ts';
import type { RunningNode } from './running-node.ts';

/** Methods of `console` that write a text, by our levels. */
const LEVELS = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error' } as const;
type Method = keyof typeof LEVELS;

export interface CaptureOptions {
  readonly runningNode: () => RunningNode | undefined;
  /** Receives what is printed with `console` outside of any run; by default it is printed. */
  readonly outside?: Logger | undefined;
}

/** Open captures; the newest decides. The console belongs to the process, not to one of its servers. */
const captures: CaptureOptions[] = [];
let restore: (() => void) | undefined;
/** What is printed now has been captured, or is the log itself. */
let isPrinting = false;

/**
 * Captures what user code prints, with `console` or to stdout and stderr: in a run it goes to the run's output. Costs
 * nothing where nothing is printed.
 */
export function captureOutput(options: CaptureOptions): Disposable {
  captures.push(options);
  restore ??= replaceWriters();
  return {
    [Symbol.dispose]() {
      captures.splice(captures.indexOf(options), 1);
      if (captures.length > 0) return;
      restore?.();
      restore = undefined;
    },
  };
}

/** The same log, for code that may be called by a run's code: its lines are never captured as output of the run. */
export function uncapturedLogger(logger: Logger): Logger {
  return customLogger(({ level, message, fields }) => printing(() => logger[level](message, fields)));
}

/** The node that is calling, for a line that it logs. */
export function callingNode(): string | undefined {
  return captures.at(-1)?.runningNode()?.node;
}

function replaceWriters(): () => void {
  const undo = [
    ...(Object.keys(LEVELS) as Method[]).map(replaceMethod),
    replaceWrite('stdout'),
    replaceWrite('stderr'),
  ];
  return () => {
    for (const each of undo) each();
  };
}

function replaceMethod(method: Method): () => void {
  const { console } = globalThis;
  const original = console[method];
  const level: LogLine['level'] = LEVELS[method];
  const captured = (...values: unknown[]): void => {
    const capture = captures.at(-1);
    const run = isPrinting ? undefined : currentRunOutput();
    if (run) {
      // Most of what a line costs; a run that prints in a loop does without.
      const at = run.isHolding ? undefined : callerLocation(captured);
      const node = callingNode();
      printing(() => run.write({ level, message: format(...values), source: 'console', node, at }));
      if (run.is_logged) return;
    } else if (capture?.outside && !isPrinting) {
      const { outside } = capture;
      printing(() => outside[level](format(...values), { ...capture.runningNode() }));
      return;
    }
    printing(() => original.apply(console, values));
  };
  console[method] = captured;
  return () => {
    if (console[method] === captured) console[method] = original;
  };
}

type Write = (chunk: string | Uint8Array, ...rest: unknown[]) => boolean;

function replaceWrite(name: 'stdout' | 'stderr'): () => void {
  const stream = process[name] as { write: Write };
  const original = stream.write;
  const captured: Write = (chunk, ...rest) => {
    const run = isPrinting ? undefined : currentRunOutput();
    if (run) {
      const node = callingNode();
      printing(() => run.text(name, chunk, node));
      if (run.is_logged) {
        const written = rest.at(-1);
        if (typeof written === 'function') process.nextTick(written);
        return true;
      }
    }
    return original.call(stream, chunk, ...rest);
  };
  stream.write = captured;
  return () => {
    if (stream.write === captured) stream.write = original;
  };
}

/** A logger may print by the same methods. */
function printing(act: () => void): void {
  const before = isPrinting;
  isPrinting = true;
  try {
    act();
  } finally {
    isPrinting = before;
  }
}
