import { rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { isTracingEnabled } from '../../config/env.ts';
import { tryOrUndefined } from '../../core/failure.ts';
import { customLogger, type Logger } from '../../core/logger.ts';
import { returnMemoryWhenIdle } from '../../core/memory.ts';
import { loadMeter } from '../../core/process-load.ts';
import { userLocation } from '../../core/stack-frames.ts';
import { sleep } from '../../core/timers.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import { captureOutput } from '../../graphs/observability/capture-output.ts';
import { type LangSmithTraces, openTraces } from '../../graphs/observability/langsmith-traces.ts';
import { type RunningNode, runningNodeReader } from '../../graphs/observability/running-node.ts';
import { deepStack, watchUserCode } from '../../graphs/observability/user-code.ts';
import type { FailedGraph } from '../../graphs/project/configured-graphs.ts';
import { projectWarnings } from '../../graphs/project/project-warnings.ts';
import { langgraphVersion } from '../../graphs/project/user-module.ts';
import { loadGraphs } from '../../graphs/runtime/load-graphs.ts';
import { bindClient } from '../../http/sdk-client.ts';
import { CONNECTION_FD, EXIT_NOTE_FD } from '../protocol/descriptors.ts';
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
import type { ExitNote } from '../protocol/watch.ts';
import type { ServerConnection } from './connection.ts';
import { type ServedApp, serveCustomApp } from './custom-app.ts';
import { openExtensions } from './extensions.ts';
import { openProjectCode, type ProjectCode, projectCodeHandlers } from './project-code.ts';
import { hostRuns } from './runs.ts';
import { fetchFromServer, serverClient } from './server-client.ts';
import { graphHandlers } from './states.ts';
import { placeOf, startWatch } from './watch.ts';

/** The server's process. */
const PARENT = process.ppid;

interface Project {
  readonly graphs: GraphRegistry;
  readonly code: ProjectCode;
  /** Why parts of the project could not be loaded, by their names. */
  readonly failures: ProjectCode['errors'];
  readonly runs: ReturnType<typeof hostRuns>;
  readonly app: ServedApp;
  readonly traces: LangSmithTraces | undefined;
}

/** Entry point of a graph host: loads the project's graphs and executes them for the server at the other end. */
function serveGraphs(): void {
  let project: Project | undefined;
  const failed: FailedGraph[] = [];
  let leave = async () => {};
  let readNode: () => RunningNode | undefined = () => undefined;
  const runningNode = () => readNode();
  const required = () => {
    if (!project) throw new ProtocolError('`initialize` must be the first request.');
    return project;
  };
  const server: Peer<HostMethods, typeof SERVER_METHODS> = new Peer(
    new Socket({ fd: CONNECTION_FD, readable: true, writable: true }),
    {
      ours: HOST_METHODS,
      theirs: SERVER_METHODS,
      handlers: {
        async initialize(params) {
          const { root, http } = params;
          leave = () => removeSocketsOfDead(PARENT, http.server_socket);
          readNode = await runningNodeReader(root);
          const client = serverClient(http.server_socket, http.token);
          // Before the project: its modules may create a client as they load.
          bindClient(fetchFromServer(client), http.mount_prefix);
          const graphs = await openGraphs(params);
          const code = await openProjectCode(params);
          const failures = { ...code.errors, ...(await openExtensions(params, server)) };
          const app = await serveCustomApp(params, client, logger);
          const traces = await openTraces(root, isTracingEnabled);
          project = { graphs, code, failures, app, runs: hostRuns(server, graphs, logger, watch), traces };
          return {
            ...listing(project, failed),
            langgraph_version: await langgraphVersion(root),
            warnings: await projectWarnings(params),
          };
        },
        async drain() {
          await project?.app.close();
          await project?.traces?.flush();
          return {};
        },
        'run/start': (params) => required().runs.start(params),
        'run/cancel': (params) => required().runs.cancel(params),
        'run/hand_over': (params) => required().runs.handOver(params),
        'run/steps': (params) => required().runs.steps(params),
        'run/drain': (params) => required().runs.drain(params),
        'run/credit': (params) => required().runs.credit(params),
        load: loadMeter(),
        ...projectHandlers(() => server, required),
      },
    },
  );
  const logger = remoteLogger(server);
  captureOutput({ runningNode, outside: logger });
  const watch = startWatch(runningNode);
  noteExit(runningNode);
  const userCode = watchUserCode(logger, {
    process: 'graph host',
    onExit: ({ what, at, ...node }) => writeNote({ ...node, what, at }),
  });
  userCode.setRunningNode(runningNode);
  returnMemoryWhenIdle();

  function openGraphs({ root, graphs, schema_cache: cache, version }: Params<HostMethods, 'initialize'>) {
    if (version !== PROTOCOL_VERSION)
      throw new ProtocolError(`This host speaks version ${PROTOCOL_VERSION}.`);
    const types = cache === undefined ? {} : { types: { cache, signal: new AbortController().signal } };
    return loadGraphs(graphs, { root, logger, onLoadError: (each) => failed.push(each), ...types });
  }

  // Without its server a host has nothing to do.
  void server.closed.then(async (reason) => {
    await leave();
    if (reason instanceof ConnectionClosed) process.exit(0);
    process.stderr.write(`${reason.stack}\n`, () => process.exit(1));
  });
}

/** The kernel closes the connections of a process a moment before its children get another parent. */
const PARENT_END_MS = 100;

/** Removes the folder of the sockets if the server was killed: else it does so itself. `parent`: its process. */
async function removeSocketsOfDead(parent: number, server_socket: string): Promise<void> {
  if (process.platform === 'win32') return;
  await sleep(PARENT_END_MS);
  if (process.ppid !== parent) rmSync(dirname(server_socket), { recursive: true, force: true });
}

/** The server's log: it filters by level and redacts. */
function remoteLogger(server: ServerConnection): Logger {
  return customLogger(({ level, message, fields }) => {
    const entries = Object.entries(fields);
    const errors = entries.filter(([, value]) => value instanceof Error);
    const others = entries.filter(([, value]) => !(value instanceof Error));
    server.notify('log', {
      level,
      message,
      fields: tryOrUndefined(() => JSON.stringify(Object.fromEntries(others))) ?? '{}',
      errors: Object.fromEntries(errors.map(([name, error]) => [name, toWireError(error)])),
    });
    server.flush();
  });
}

/** Handlers of what needs the project, besides its runs. */
function projectHandlers(server: () => Peer<HostMethods, typeof SERVER_METHODS>, required: () => Project) {
  return {
    ...graphHandlers(server, () => required().graphs),
    ...projectCodeHandlers(() => required().code),
  };
}

function listing(
  { graphs, failures, app }: Project,
  failed: readonly FailedGraph[],
): Omit<Result<HostMethods, 'initialize'>, 'langgraph_version' | 'warnings'> {
  const byGraph = new Map(failed.map((each) => [each.graph_id, each]));
  const overridden = graphs.overriddenMemory();
  return {
    version: PROTOCOL_VERSION,
    graphs: graphs.ids.map((graph_id) => {
      const { error, file } = byGraph.get(graph_id) ?? {};
      const own = [...(overridden.get(graph_id) ?? [])];
      return { graph_id, overridden: own, ...(error && { error: toWireError(error), file }) };
    }),
    project_errors: failures,
    app: app.loaded,
  };
}

/** Notes what `watchUserCode` does not: `process.abort`, which calls no listener of `exit`, and exits outside of nodes. */
function noteExit(runningNode: () => RunningNode | undefined): void {
  process.on('exit', (code) => {
    const at = userLocation(deepStack('exit'));
    if (at !== undefined && !runningNode()) writeNote({ at, what: `called process.exit(${code})` });
  });
  const abort = process.abort.bind(process);
  process.abort = () => {
    writeNote({ ...placeOf(runningNode(), deepStack('abort')), what: 'called process.abort()' });
    return abort();
  };
}

/** Synchronously: nothing else is done any more. */
function writeNote(note: ExitNote): void {
  tryOrUndefined(() => writeSync(EXIT_NOTE_FD, JSON.stringify(note)));
}

// Ctrl+C reaches both processes; ignore it here, the server stops its hosts.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
serveGraphs();
