import { secretsOf } from '../config/env.ts';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../core/logger.ts';
import { secretMask } from '../core/mask-secrets.ts';
import { captureOutput } from '../graphs/observability/capture-output.ts';
import { type RunningNode, runningNodeReader } from '../graphs/observability/running-node.ts';
import type { OutputRules } from '../workers/attempt-log.ts';

/** Captures the output of graphs in this process. */
export interface OutputCapture extends Disposable {
  /**
   * Attributes output to nodes from now on. Call it after the graphs' environment is set, because it loads
   * LangChain.
   */
  nameNodes(root: string): Promise<void>;
}

/** `logger`: receives what is printed with `console`; by default it is printed. */
export function openCapture(logger: Logger | undefined): OutputCapture {
  let readNode: () => RunningNode | undefined = () => undefined;
  const capture = captureOutput({ runningNode: () => readNode(), outside: logger });
  return {
    async nameNodes(root) {
      readNode = await runningNodeReader(root);
    },
    [Symbol.dispose]: () => capture[Symbol.dispose](),
  };
}

/**
 * `is_logged`: whether output of graphs in this process goes to the server's log. Output of graph hosts always
 * does.
 */
export function outputRules(config: Config, is_logged: boolean): OutputRules {
  return {
    is_logged: is_logged || config.hosts.count !== 0,
    mask: secretMask(secretsOf(config)),
    root: config.root,
  };
}
