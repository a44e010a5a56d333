import type { LogFields, Logger } from '../../core/logger.ts';
import { callingNode } from './capture-output.ts';
import { currentRunOutput } from './run-output.ts';

/** Global symbol that `getLogger` of `@langchain/langgraph-sdk/logging` reads; it throws if nothing is set. */
const SDK_LOGGER = Symbol.for('langgraph.api.sdk-logger');

/** Methods of that logger, by our levels. */
const LEVELS = {
  error: ['error'],
  warn: ['warn'],
  info: ['info', 'help', 'data', 'prompt', 'http'],
  debug: ['debug', 'verbose', 'input', 'silly'],
} as const;

/**
 * Lets graphs write to the server's log; in a run, with its fields. The symbol is process-wide: of several servers in
 * one process, the last one that loaded graphs wins.
 */
export function exposeSdkLogger(logger: Logger): void {
  const sdkLogger: Record<string, (...args: unknown[]) => object> = {};
  for (const level of ['error', 'warn', 'info', 'debug'] as const) {
    for (const name of LEVELS[level]) {
      sdkLogger[name] = (...args) => {
        const { text, fields } = lineOf(args);
        const run = currentRunOutput();
        if (run) run.log(level, text, fields, callingNode());
        else logger[level](text, fields);
        return sdkLogger;
      };
    }
  }
  Object.assign(globalThis, { [SDK_LOGGER]: sdkLogger });
}

/** Arguments are a text and objects with fields, or one object with its `message`. */
function lineOf([first, ...more]: unknown[]): { text: string; fields: LogFields } {
  const objects = (typeof first === 'object' ? [first, ...more] : more).map((each) =>
    each instanceof Error ? { message: each.message, cause: each } : each,
  );
  const { message = '', ...fields }: LogFields = Object.assign({}, ...objects);
  return { text: String(typeof first === 'object' ? message : first), fields };
}
