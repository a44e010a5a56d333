import type { Logger } from '../../core/logger.ts';
import { userLocation } from '../../core/stack-frames.ts';
import { uncapturedLogger } from './capture-output.ts';
import { currentRunOutput } from './run-output.ts';
import type { RunningNode } from './running-node.ts';

/** A node whose code ends this process. */
export interface FaultyNode extends RunningNode {
  /** What the node did, such as `called process.exit(3)`. */
  readonly what: string;
  /** First user frame on the stack, as `file:line:column`. */
  readonly at: string | undefined;
}

interface WatchOptions {
  /** What the process is, for the log. */
  readonly process: 'server' | 'graph host';
  /** Called for a node that ends the process. */
  readonly onExit?: ((node: FaultyNode) => void) | undefined;
  /**
   * In a process that executes no graph nothing but the server can have thrown, and its state is unknown. It is called
   * instead, and has to drain and end the process.
   */
  readonly onOwnFailure?: (() => void) | undefined;
}

export interface UserCodeWatch extends Disposable {
  /** Enables naming nodes. Set late: LangChain must not load before the graphs' environment is set. */
  setRunningNode(runningNode: () => RunningNode | undefined): void;
}

/**
 * Handles uncaught exceptions and unhandled rejections of user code, from timers, events or floating promises: they
 * reach the process, and the run ends as if nothing had happened. They are logged with their node, and the server
 * continues (invariant 8): its own code runs only in awaited promises, and a torn write is rolled back by its
 * transaction or fenced by its lease. Also reports a node that ends the process.
 */
export function watchUserCode(given: Logger, options: WatchOptions): UserCodeWatch {
  const { onExit, onOwnFailure } = options;
  // It is called within a run, whose output would be lost with the process.
  const logger = uncapturedLogger(given);
  let runningNode: () => RunningNode | undefined = () => undefined;
  const report = (what: string) => (error: unknown) => {
    if (onOwnFailure) {
      logger.error(`${what} in the server, which stops`, { error });
      return onOwnFailure();
    }
    const node = runningNode();
    const message = `${what} in a node; its run is not affected`;
    const run = currentRunOutput();
    if (run) run.log('error', message, { error }, node?.node);
    else if (node) logger.error(message, { ...node, error });
    else logger.error(`${what} outside of any run`, { error });
  };
  const onThrown = report('uncaught exception');
  const onRejected = report('unhandled rejection');
  // `process.exit` calls its listeners synchronously: its caller is on the stack and in the async context.
  const onProcessExit = (code: number) => {
    const node = runningNode();
    const what = `process.exit(${code})`;
    const text = `${what} ends the ${options.process}`;
    const error = Object.assign(new Error(text), { stack: deepStack(text) });
    const at = userLocation(error.stack);
    if (node) {
      logger.error(`a node called process.exit, which ends the ${options.process}`, { ...node, error });
      onExit?.({ ...node, what: `called ${what}`, at });
    } else if (at !== undefined)
      logger.error(`code of the project called process.exit, which ends the ${options.process}`, { error });
  };
  process.on('uncaughtException', onThrown).on('unhandledRejection', onRejected).on('exit', onProcessExit);
  return {
    setRunningNode(named) {
      runningNode = named;
    },
    [Symbol.dispose]() {
      process
        .off('uncaughtException', onThrown)
        .off('unhandledRejection', onRejected)
        .off('exit', onProcessExit);
    },
  };
}

/** A stack deep enough to reach user code below library frames. */
export function deepStack(message: string): string {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  const { stack = '' } = new Error(message);
  Error.stackTraceLimit = before;
  return stack;
}
