import { isObject } from '../../core/json.ts';
import { importUserModule } from '../project/user-module.ts';
import { type RunFields, runFieldsOf, textIn } from './run-fields.ts';

/** Node of a run, as log fields. */
export interface RunningNode extends RunFields {
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
  return node === undefined ? undefined : { ...runFieldsOf({ configurable, metadata }), node };
}
