import type { LogFields, Logger } from '../../core/logger.ts';

/** Where `getLogger` of `@langchain/langgraph-sdk/logging` looks; it throws when nothing is there. */
const SDK_LOGGER = Symbol.for('langgraph.api.sdk-logger');

/** The levels of that logger, by ours. */
const LEVELS = {
  error: ['error'],
  warn: ['warn'],
  info: ['info', 'help', 'data', 'prompt', 'http'],
  debug: ['debug', 'verbose', 'input', 'silly'],
} as const;

/**
 * Lets graphs write to the server's log. There is one place in the process: of several servers in it, the log is that
 * of the one that loaded graphs last.
 */
export function exposeSdkLogger(logger: Logger): void {
  const sdkLogger: Record<string, (...args: unknown[]) => object> = {};
  for (const level of ['error', 'warn', 'info', 'debug'] as const) {
    for (const name of LEVELS[level]) {
      sdkLogger[name] = (...args) => {
        const { text, fields } = lineOf(args);
        logger[level](text, fields);
        return sdkLogger;
      };
    }
  }
  Object.assign(globalThis, { [SDK_LOGGER]: sdkLogger });
}

/** Graphs say a text and objects with fields, or one object with its `message`. */
function lineOf([first, ...more]: unknown[]): { text: string; fields: LogFields } {
  const objects = (typeof first === 'object' ? [first, ...more] : more).map((each) =>
    each instanceof Error ? { message: each.message, cause: each } : each,
  );
  const { message = '', ...fields }: LogFields = Object.assign({}, ...objects);
  return { text: String(typeof first === 'object' ? message : first), fields };
}
