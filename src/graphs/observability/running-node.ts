import { isObject } from '../../core/json.ts';
import { importUserModule } from '../project/user-module.ts';

/** A node of a run, as logs name it. */
export interface RunningNode {
  readonly run_id: string | undefined;
  readonly thread_id: string | undefined;
  readonly graph: string | undefined;
  readonly node: string;
}

interface Singletons {
  readonly AsyncLocalStorageProviderSingleton: { getRunnableConfig(): unknown };
}

/**
 * What tells the node whose code calls it, also from what it left behind: a timer, an event, a promise that nobody
 * awaits; undefined outside of nodes. Every copy of the library keeps this in one place of the process; the server alone
 * has none, the project in `folder` brings it.
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
  return {
    run_id: textIn(configurable, 'run_id'),
    thread_id: textIn(configurable, 'thread_id'),
    graph: textIn(configurable, 'graph_id'),
    node,
  };
}

function textIn(of: Record<string, unknown>, name: string): string | undefined {
  return typeof of[name] === 'string' ? of[name] : undefined;
}
