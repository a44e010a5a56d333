import { isObject } from '../../core/json.ts';
import { traceIdOf } from '../../core/trace-ids.ts';
import { importUserModule } from '../project/user-module.ts';

/** Node of a run, as log fields. */
export interface RunningNode {
  readonly run_id: string | undefined;
  readonly thread_id: string | undefined;
  readonly assistant_id?: string | undefined;
  readonly graph: string | undefined;
  readonly attempt?: number | undefined;
  readonly trace_id?: string | undefined;
  readonly node: string;
}

interface Singletons {
  readonly AsyncLocalStorageProviderSingleton: { getRunnableConfig(): unknown };
}

/**
 * Returns a function that identifies the calling node, also from a timer, an event or a floating promise that the node
 * left behind; `undefined` outside of nodes. All copies of the library share one async context per process; the server
 * has no copy, the project in `folder` provides it.
 */
export async function runningNodeReader(folder: string): Promise<() => RunningNode | undefined> {
  const library = await importUserModule<Singletons>(folder, '@langchain/core/singletons').catch(
    () => undefined,
  );
  return () => nodeOf(library?.AsyncLocalStorageProviderSingleton.getRunnableConfig());
}

function nodeOf(config: unknown): RunningNode | undefined {
  if (!isObject(config) || !isObject(config['metadata'])) return undefined;
  const { metadata } = config;
  const configurable = isObject(config['configurable']) ? config['configurable'] : {};
  const node = textIn(metadata, 'langgraph_node');
  if (node === undefined) return undefined;
  const run_id = textIn(configurable, 'run_id');
  const { run_attempt } = metadata;
  return {
    run_id,
    thread_id: textIn(configurable, 'thread_id'),
    assistant_id: textIn(configurable, 'assistant_id'),
    graph: textIn(configurable, 'graph_id'),
    attempt: typeof run_attempt === 'number' ? run_attempt : undefined,
    trace_id: run_id && traceIdOf(run_id, configurable),
    node,
  };
}

function textIn(of: Record<string, unknown>, name: string): string | undefined {
  return typeof of[name] === 'string' ? of[name] : undefined;
}
