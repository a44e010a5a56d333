import type { Logger } from '../core/logger.ts';
import { firstUserFrame } from '../core/stack-frames.ts';
import type { RunningNode } from '../graphs/observability/running-node.ts';

/** A node whose code ends this process, or never gives it back. */
export interface FaultyNode extends RunningNode {
  /** What it does, such as `called process.exit(3)`. */
  readonly what: string;
  /** The first place of the project's code on the stack, as `file:line:column`. */
  readonly at: string | undefined;
}

export interface UserCodeWatch extends Disposable {
  /** From now on nodes can be named: LangChain must not be loaded before the environment of the graphs is set. */
  setRunningNode(runningNode: () => RunningNode | undefined): void;
}

/**
 * What user code throws from a timer or an event, or rejects without anybody waiting, reaches the process and not the
 * run, which ends as if nothing had happened. It is logged with the node that it came from, and the server goes on
 * (DESIGN invariant 8): nothing of ours runs outside a promise that is awaited, and a write that was cut off in the
 * middle is undone by its transaction or refused by its lease. A node that ends the process is named before it is gone.
 */
export function watchUserCode(
  logger: Logger,
  onExit: (culprit: FaultyNode) => void = () => {},
): UserCodeWatch {
  let runningNode: () => RunningNode | undefined = () => undefined;
  const report = (what: string) => (error: unknown) => {
    const node = runningNode();
    if (node) logger.error(`${what} in a node, whose run does not notice`, { ...node, error });
    else logger.error(`${what} outside of any run`, { error });
  };
  const onThrown = report('uncaught exception');
  const onRejected = report('unhandled rejection');
  // Listeners are called by `process.exit` itself, so that its caller is on the stack and in the async context.
  const onProcessExit = (code: number) => {
    const node = runningNode();
    const what = `process.exit(${code})`;
    const error = Object.assign(new Error(`${what} ends the server`), {
      stack: deepStack(`${what} ends the server`),
    });
    const at = userLocation(error.stack);
    if (node) {
      logger.error('a node called process.exit, which ends the server', { ...node, error });
      onExit({ ...node, what: `called ${what}`, at });
    } else if (at !== undefined)
      logger.error('code of the project called process.exit, which ends the server', { error });
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

/** A stack that reaches through the frames of libraries. */
export function deepStack(message: string): string {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  const { stack = '' } = new Error(message);
  Error.stackTraceLimit = before;
  return stack;
}

/** `file:line:column` of the first own frame. */
export function userLocation(stack: string | undefined): string | undefined {
  const frame = firstUserFrame(stack ?? '');
  return frame && `${frame.file}:${frame.line}:${frame.column}`;
}
