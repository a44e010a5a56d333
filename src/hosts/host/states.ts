import type { GraphConfig, GraphRegistry, GraphRuntime, StateSelection } from '../../graphs/graph.ts';
import type { HostMethods, Params } from '../protocol/messages.ts';
import type { Handlers } from '../protocol/peer.ts';
import type { ServerConnection } from './connection.ts';
import { sessionMemory } from './memory.ts';

type Names = Extract<keyof HostMethods, `state/${string}` | `graph/${string}`>;
type GraphUse = Params<HostMethods, 'graph/schemas'>['graph'];
type StateUse = Pick<Params<HostMethods, 'state/get'>, 'session' | 'graph' | 'writer' | 'config' | 'first'>;

/** Handlers for states and for what describes a graph. */
export function graphHandlers(
  server: () => ServerConnection,
  graphs: () => GraphRegistry,
): Pick<Handlers<HostMethods>, Names> {
  const graphOf = ({ graph_id, access, config, context }: GraphUse): Promise<GraphRuntime> =>
    graphs().get(graph_id, JSON.parse(config), access, JSON.parse(context));
  const open = async ({ session, graph, writer, config, first }: StateUse) => ({
    runtime: await graphOf(graph),
    memory: sessionMemory(server(), session, writer, { first }),
    config: JSON.parse(config) as GraphConfig,
  });

  return {
    async 'state/get'({ subgraphs, select, ...use }) {
      const { runtime, config, memory } = await open(use);
      const query = { config, memory, subgraphs, select: select as StateSelection };
      return { json: await runtime.stateJson(query) };
    },
    async 'state/history'({ limit, before, metadata, select, ...use }) {
      const { runtime, config, memory } = await open(use);
      const filter = { before: parsed(before), metadata: parsed(metadata), select } as object;
      return { json: await runtime.historyJson({ config, limit, memory, ...filter }) };
    },
    async 'state/update'({ values, as_node, ...use }) {
      const { runtime, config, memory } = await open(use);
      return json(await runtime.update({ config, values: JSON.parse(values), as_node, memory }));
    },
    async 'state/bulk_update'({ supersteps, ...use }) {
      const { runtime, config, memory } = await open(use);
      await runtime.bulkUpdate({ config, supersteps: JSON.parse(supersteps), memory });
      return {};
    },
    async 'graph/draw'({ graph, xray }) {
      return json(await (await graphOf(graph)).draw(xray));
    },
    async 'graph/nodes'({ graph, source }) {
      return json(await (await graphOf(graph)).nodes(source));
    },
    async 'graph/schemas'({ graph }) {
      return json(await (await graphOf(graph)).schemas());
    },
    async 'graph/subgraphs'({ graph, namespace, recurse }) {
      return json(await (await graphOf(graph)).subgraphs(namespace, recurse));
    },
  };
}

/** `undefined` becomes null. */
function json(value: unknown): { json: string } {
  return { json: JSON.stringify(value) ?? 'null' };
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
