import { Socket } from 'node:net';
import type { GraphRegistry } from '../../graphs/graph.ts';
import { langgraphVersion } from '../../graphs/project/user-module.ts';
import { loadGraphs } from '../../graphs/runtime/registry.ts';
import { toWireError } from '../protocol/errors.ts';
import {
  HOST_METHODS,
  type HostMethods,
  type Params,
  PROTOCOL_VERSION,
  type Result,
  SERVER_METHODS,
} from '../protocol/messages.ts';
import { ConnectionClosed, Peer, ProtocolError } from '../protocol/peer.ts';
import { remoteLogger } from './log.ts';
import { hostRuns } from './runs.ts';
import { graphHandlers } from './states.ts';

/** File descriptor of the connection to the server, which the server opens. */
const CONNECTION_FD = 3;

/** Entry point of a graph host: loads the project's graphs and executes them for the server at the other end. */
function serveGraphs(): void {
  let loaded: { readonly graphs: GraphRegistry; readonly runs: ReturnType<typeof hostRuns> } | undefined;
  const required = () => {
    if (!loaded) throw new ProtocolError('`initialize` comes first.');
    return loaded;
  };
  const server: Peer<HostMethods, typeof SERVER_METHODS> = new Peer(
    new Socket({ fd: CONNECTION_FD, readable: true, writable: true }),
    {
      ours: HOST_METHODS,
      theirs: SERVER_METHODS,
      handlers: {
        async initialize(params) {
          const graphs = await openGraphs(params);
          loaded = { graphs, runs: hostRuns(server, graphs, logger) };
          return listing(graphs, await langgraphVersion(params.root));
        },
        'run/start': (params) => required().runs.start(params),
        'run/cancel': (params) => required().runs.cancel(params),
        'run/credit': (params) => required().runs.credit(params),
        ...graphHandlers(
          () => server,
          () => required().graphs,
        ),
      },
    },
  );
  const logger = remoteLogger(server);

  function openGraphs({ root, graphs, schema_cache: cache, version }: Params<HostMethods, 'initialize'>) {
    if (version !== PROTOCOL_VERSION)
      throw new ProtocolError(`This host speaks version ${PROTOCOL_VERSION}.`);
    const types = cache === undefined ? {} : { types: { cache, signal: new AbortController().signal } };
    return loadGraphs(graphs, { root, logger, ...types });
  }

  // Without its server a host has nothing to do.
  void server.closed.then((reason) => {
    if (reason instanceof ConnectionClosed) process.exit(0);
    process.stderr.write(`${reason.stack}\n`, () => process.exit(1));
  });
}

function listing(graphs: GraphRegistry, langgraph_version: string | null): Result<HostMethods, 'initialize'> {
  const errors = graphs.loadErrors();
  const overridden = graphs.overriddenMemory();
  return {
    version: PROTOCOL_VERSION,
    langgraph_version,
    graphs: graphs.ids.map((graph_id) => {
      const error = errors.get(graph_id);
      const own = [...(overridden.get(graph_id) ?? [])];
      return { graph_id, overridden: own, ...(error && { error: toWireError(error) }) };
    }),
  };
}

// The server decides when a host ends: a signal of the terminal reaches both.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
serveGraphs();
