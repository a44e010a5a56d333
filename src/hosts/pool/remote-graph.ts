import { fromUtf8 } from '../../core/text.ts';
import type {
  AccessContext,
  GraphConfig,
  GraphMemory,
  GraphRuntime,
  StateSelection,
} from '../../graphs/graph.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { CheckpointQuery } from '../../storage/checkpoints/find.ts';
import type { HostMethods, Params, Result } from '../protocol/messages.ts';
import { untilLost } from './ask.ts';
import { checkpointQuery, firstSearch, historyQuery } from './first-search.ts';
import type { Host } from './host.ts';
import type { HostPool } from './pool.ts';
import { readFrom } from './read.ts';
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

/** `query`: the search for checkpoints with which it begins. */
type StateRequest<Name extends StateMethod> = Omit<
  Params<HostMethods, Name>,
  'session' | 'graph' | 'writer' | 'config' | 'first'
> & { readonly memory: GraphMemory; readonly config: GraphConfig; readonly query?: CheckpointQuery };

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
    host: Host,
    method: Name,
    { memory, config, query = checkpointQuery(config), ...params }: StateRequest<Name>,
  ): Promise<Result<HostMethods, Name>> {
    const { access, writer } = writerOf(memory);
    using session = host.sessions.open({ checkpoints: access });
    const first = await firstSearch(access, query);
    const all = { session: session.id, graph, writer, config: JSON.stringify(config), first, ...params };
    return (await host.peer.request<StateMethod>(method, all as never)) as Result<HostMethods, Name>;
  }

  const workOf = (memory: GraphMemory) => ({ thread_id: writerOf(memory).writer.thread_id });

  function read<Name extends 'state/get' | 'state/history'>(method: Name, request: StateRequest<Name>) {
    return readFrom(pool, workOf(request.memory), (host) => ask(host, method, request));
  }

  async function write<Name extends 'state/update' | 'state/bulk_update'>(
    method: Name,
    request: StateRequest<Name>,
  ) {
    const host = await pool.take(workOf(request.memory));
    return untilLost(host, ask(host, method, request));
  }

  async function describe<Name extends GraphMethod>(
    method: Name,
    params: Omit<Params<HostMethods, Name>, 'graph'>,
  ) {
    const request = { graph, ...params } as never;
    const { json } = await readFrom(pool, {}, (host) => host.peer.request<GraphMethod>(method, request));
    return JSON.parse(json);
  }

  return {
    graph_id: use.graph_id,

    stream: (call) => remoteRun(pool, use.graph_id, call, (state) => left.set(call.memory, state)),

    async state(config, memory, subgraphs) {
      const known = subgraphs || config.configurable.checkpoint_id ? undefined : left.get(memory);
      if (known) return known;
      const { json } = await read('state/get', { memory, config, subgraphs });
      return json && JSON.parse(fromUtf8(json));
    },

    async stateJson({ config, memory, subgraphs, select }) {
      return (await read('state/get', { memory, config, subgraphs, ...selected(select) })).json;
    },

    async historyJson({ config, limit, before, metadata, select, memory }) {
      const filter = {
        ...(before && { before: JSON.stringify(before) }),
        ...(metadata && { metadata: JSON.stringify(metadata) }),
        ...selected(select),
      };
      const query = historyQuery({ config, limit, before, metadata });
      return (await read('state/history', { memory, config, limit, query, ...filter })).json;
    },

    async update({ config, values, as_node, memory }) {
      const text = JSON.stringify(values ?? null);
      return JSON.parse((await write('state/update', { memory, config, values: text, as_node })).json);
    },

    async bulkUpdate({ config, supersteps, memory }) {
      await write('state/bulk_update', { memory, config, supersteps: JSON.stringify(supersteps) });
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
