import { fromUtf8 } from '../../core/text.ts';
import type {
  AccessContext,
  GraphConfig,
  GraphMemory,
  GraphRuntime,
  StateSelection,
} from '../../graphs/graph.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { HostMethods, Params, Result } from '../protocol/messages.ts';
import { checkpointQuery, firstSearch, historyQuery } from './first-search.ts';
import type { HostPool } from './pool.ts';
import { remoteRun, writerOf } from './remote-run.ts';

/** How a graph is used: a factory makes one for each use. */
export interface GraphUse {
  readonly graph_id: string;
  readonly config: GraphConfig;
  readonly access: AccessContext;
  readonly context: unknown;
}

type StateMethod = Extract<keyof HostMethods, `state/${string}`>;
type GraphMethod = Extract<keyof HostMethods, `graph/${string}`>;

/** A graph in a host process. */
export function remoteGraph(pool: HostPool, use: GraphUse): GraphRuntime {
  const graph = {
    graph_id: use.graph_id,
    access: use.access,
    config: JSON.stringify(use.config),
    context: JSON.stringify(use.context ?? null),
  };
  /** States that ended runs left, by the memory they ran with: no further request is needed. */
  const left = new WeakMap<GraphMemory, ThreadState>();

  /** Sends a request about a state, with access to its checkpoints until the response; `query`: its first search. */
  async function ask<Name extends StateMethod>(
    method: Name,
    memory: GraphMemory,
    config: GraphConfig,
    params: Omit<Params<HostMethods, Name>, 'session' | 'graph' | 'writer' | 'config' | 'first'>,
    query = checkpointQuery(config),
  ): Promise<Result<HostMethods, Name>> {
    const { access, writer } = writerOf(memory);
    const host = await pool.take({ thread_id: writer.thread_id });
    using session = host.sessions.open({ checkpoints: access });
    const first = await firstSearch(access, query);
    const all = { session: session.id, graph, writer, config: JSON.stringify(config), first, ...params };
    return (await host.peer.request<StateMethod>(method, all as never)) as Result<HostMethods, Name>;
  }

  async function describe<Name extends GraphMethod>(
    method: Name,
    params: Omit<Params<HostMethods, Name>, 'graph'>,
  ) {
    const host = await pool.take();
    const { json } = await host.peer.request<GraphMethod>(method, { graph, ...params } as never);
    return JSON.parse(json);
  }

  return {
    graph_id: use.graph_id,

    stream: (call) => remoteRun(pool, use.graph_id, call, (state) => left.set(call.memory, state)),

    async state(config, memory, subgraphs) {
      const known = subgraphs || config.configurable.checkpoint_id ? undefined : left.get(memory);
      if (known) return known;
      const { json } = await ask('state/get', memory, config, { subgraphs });
      return json && JSON.parse(fromUtf8(json));
    },

    async stateJson({ config, memory, subgraphs, select }) {
      return (await ask('state/get', memory, config, { subgraphs, ...selected(select) })).json;
    },

    async historyJson({ config, limit, before, metadata, select, memory }) {
      const filter = {
        ...(before && { before: JSON.stringify(before) }),
        ...(metadata && { metadata: JSON.stringify(metadata) }),
        ...selected(select),
      };
      const query = historyQuery({ config, limit, before, metadata });
      return (await ask('state/history', memory, config, { limit, ...filter }, query)).json;
    },

    async update({ config, values, as_node, memory }) {
      const params = { values: JSON.stringify(values ?? null), as_node };
      return JSON.parse((await ask('state/update', memory, config, params)).json);
    },

    async bulkUpdate({ config, supersteps, memory }) {
      await ask('state/bulk_update', memory, config, { supersteps: JSON.stringify(supersteps) });
    },

    draw: (xray) => describe('graph/draw', { xray }),
    nodes: (source) => describe('graph/nodes', { source }),
    schemas: () => describe('graph/schemas', {}),
    subgraphs: (namespace, recurse) => describe('graph/subgraphs', { namespace, recurse }),
  };
}

function selected(select: StateSelection): { select?: string[] } {
  return select ? { select: [...select] } : {};
}
