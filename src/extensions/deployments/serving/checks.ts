import { systemActor } from '../../../auth/actor.ts';
import type { Config } from '../../../config/schema.ts';
import { isStorageFailure } from '../../../core/failure-class.ts';
import { ThreadSearch } from '../../../schemas/threads.ts';
import type { ReplaceableApp } from '../../extension.ts';
import { checkFailure, reasonOf } from './check-failure.ts';

/** An app and its configuration. */
export interface CheckedApp {
  readonly app: ReplaceableApp;
  readonly config: Config;
}

/** Maximum number of threads to check, newest first. */
const MAX_THREADS = 500;
/** Maximum number of threads to list in a warning. */
const MAX_LISTED = 20;

/**
 * Checks that a revision can serve: its graphs load, their schemas can be read, and the store index keeps its
 * dimensions. Throws a `RevisionError`. Returns a warning for each open thread whose next node no longer exists, unless
 * threads stay with their revision (`keeps_threads`).
 */
export async function checkRevision(
  next: CheckedApp,
  before: CheckedApp | undefined,
  { was_checked, keeps_threads }: { readonly was_checked: boolean; readonly keeps_threads: boolean },
): Promise<string[]> {
  await checkGraphs(next.app);
  if (!was_checked) await checkSchemas(next.app);
  if (!before) return [];
  checkIndex(next.config, before.config);
  return keeps_threads ? [] : findLostThreads(next.app, before.app);
}

async function checkGraphs({ graphs, loaded }: ReplaceableApp): Promise<void> {
  await loaded().catch((error: Error) => {
    if (isStorageFailure(error)) throw error;
    const advice = 'See the log of the deployment for the output of its processes.';
    throw checkFailure({
      ...{ code: 'project_failed', cause: error, advice },
      what: `The project cannot be loaded: ${reasonOf(error)}`,
    });
  });
  for (const [graph_id, error] of graphs.loadErrors()) {
    throw checkFailure({
      ...{
        code: 'graph_failed',
        cause: error,
        advice: 'Run agent-server check in the project to reproduce it.',
      },
      what: `The graph "${graph_id}" cannot be loaded: ${reasonOf(error)}`,
    });
  }
}

/** Reads the schemas before the revision serves: reading them from types takes seconds. */
async function checkSchemas({ graphs }: ReplaceableApp): Promise<void> {
  for (const graph_id of graphs.ids) {
    try {
      const graph = await graphs.get(graph_id, { configurable: {} }, 'assistants.read');
      await graph.schemas();
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      throw checkFailure({
        ...{ code: 'schemas_failed', cause: error, advice: 'Fix the state of the graph, and deploy again.' },
        what: `The schemas of the graph "${graph_id}" cannot be read: ${reasonOf(error)}`,
      });
    }
  }
}

/** Vectors of a different length could not be compared with the stored ones. */
function checkIndex({ store: { index: next } }: Config, { store: { index: before } }: Config): void {
  if (!next || !before || next.dims === before.dims) return;
  throw checkFailure({
    code: 'store_dims_changed',
    what: `store.index.dims is ${next.dims}, but the stored vectors have ${before.dims}`,
    advice: 'Keep the embedding, or deploy under another name.',
  });
}

async function findLostThreads(next: ReplaceableApp, before: ReplaceableApp): Promise<string[]> {
  const actor = systemActor('deployment check');
  const query = ThreadSearch.parse({ status: 'interrupted', limit: MAX_THREADS });
  const { items } = await before.services.threads.search(actor, query);
  const nodes = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  const lost: string[] = [];
  for (const { thread_id = '', metadata } of items) {
    const graph_id = metadata?.['graph_id'];
    if (typeof graph_id !== 'string') continue;
    if (!nodes.has(graph_id)) nodes.set(graph_id, nodesOf(next, graph_id));
    const known = await nodes.get(graph_id);
    const state = await before.services.threadState.get(actor, thread_id, { subgraphs: false });
    const gone = (state.next ?? []).filter((node) => !known?.has(node));
    if (gone.length > 0) lost.push(`Thread ${thread_id} waits in "${gone.join(', ')}", which is gone.`);
  }
  return lost.length > MAX_LISTED
    ? [...lost.slice(0, MAX_LISTED), `… and ${lost.length - MAX_LISTED} further threads.`]
    : lost;
}

/** Returns `undefined` if the graph no longer exists. */
async function nodesOf(
  { graphs }: ReplaceableApp,
  graph_id: string,
): Promise<ReadonlySet<string> | undefined> {
  if (!graphs.ids.includes(graph_id)) return undefined;
  const graph = await graphs.get(graph_id, { configurable: {} }, 'assistants.read');
  const { nodes } = await graph.draw(false);
  return new Set(nodes.map(({ id }) => String(id)));
}
