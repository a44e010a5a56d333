import { after } from '../../core/timers.ts';
import { Checkpointer } from '../../graphs/checkpointer/checkpointer.ts';
import type {
  AccessContext,
  CheckpointEvent,
  GraphCall,
  GraphConfig,
  GraphMemory,
  GraphRuntime,
  SerializedEvent,
} from '../../graphs/graph.ts';
import { EventQueue } from '../../graphs/runtime/event-queue.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import { fromWireError, toWireError } from '../protocol/errors.ts';
import type { HostMethods, Params, ServerMethods } from '../protocol/messages.ts';
import type { Host } from './host.ts';
import type { HostPool } from './pool.ts';

/** How a graph is used: a factory makes one for each use. */
export interface GraphUse {
  readonly graph_id: string;
  readonly config: GraphConfig;
  readonly access: AccessContext;
  readonly context: unknown;
}

/** Text of events after whose consumption a host may send as much again, characters. */
const CREDIT_STEP = 1024 * 1024;

/** Grace period of a cancelled run, ms: its host gives the graph half a second, and then says how it left the thread. */
const STOP_GRACE_MS = 1000;

type StateMethod = Extract<keyof HostMethods, `state/${string}`>;
type GraphMethod = Extract<keyof HostMethods, `graph/${string}`>;
type RunEnd = Params<ServerMethods, 'run/end'>;
type RunEvent = SerializedEvent | CheckpointEvent;

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

  /** Sends a request about a state, with access to its checkpoints until the response. */
  async function ask<Name extends StateMethod>(
    method: Name,
    memory: GraphMemory,
    config: GraphConfig,
    params: Omit<Params<HostMethods, Name>, 'session' | 'graph' | 'writer' | 'config'>,
  ): Promise<unknown> {
    const host = await pool.take();
    const { access, writer } = writerOf(memory);
    using session = host.sessions.open({ checkpoints: access });
    const all = { session: session.id, graph, writer, config: JSON.stringify(config), ...params };
    const result: object = await host.peer.request<StateMethod>(method, all as never);
    return 'json' in result ? JSON.parse(result.json as string) : undefined;
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

    stream: (call) => execute(pool, use.graph_id, call, (state) => left.set(call.memory, state)),

    async state(config, memory, subgraphs) {
      const known = subgraphs || config.configurable.checkpoint_id ? undefined : left.get(memory);
      return (
        known ?? ((await ask('state/get', memory, config, { subgraphs })) as ThreadState | null) ?? undefined
      );
    },

    async history({ config, limit, before, metadata, memory }) {
      const filter = {
        ...(before && { before: JSON.stringify(before) }),
        ...(metadata && { metadata: JSON.stringify(metadata) }),
      };
      return (await ask('state/history', memory, config, { limit, ...filter })) as ThreadState[];
    },

    async update({ config, values, as_node, memory }) {
      const params = { values: JSON.stringify(values ?? null), as_node };
      return (await ask('state/update', memory, config, params)) as Record<string, unknown>;
    },

    async bulkUpdate({ config, supersteps, memory }) {
      await ask('state/bulk_update', memory, config, { supersteps: JSON.stringify(supersteps) });
    },

    draw: (xray) => describe('graph/draw', { xray }),
    schemas: () => describe('graph/schemas', {}),
    subgraphs: (namespace, recurse) => describe('graph/subgraphs', { namespace, recurse }),
  };
}

/** Access to checkpoints, which stays here, and what the host's own checkpointer is made from. */
function writerOf({ checkpointer }: GraphMemory) {
  if (!(checkpointer instanceof Checkpointer))
    throw new TypeError('A graph host needs a checkpointer of the server.');
  const { access, ...writer } = checkpointer.writer;
  return { access, writer };
}

/** Executes a run in a host, and yields its events as `GraphRuntime.stream` does. */
async function* execute(
  pool: HostPool,
  graph_id: string,
  call: GraphCall,
  onState: (state: ThreadState) => void,
): AsyncGenerator<RunEvent, void> {
  const { memory, signal, ...given } = call;
  signal.throwIfAborted();
  const host = await pool.take(signal);
  const { access, writer } = writerOf(memory);
  const queue = new EventQueue<RunEvent>();
  let isRunning = true;
  using session = host.sessions.open({
    checkpoints: access,
    run: {
      onEvents(events) {
        for (const event of events) queue.push(event);
      },
      onEnd({ error, state }: RunEnd) {
        isRunning = false;
        if (state !== undefined) onState(JSON.parse(state));
        if (signal.aborted) queue.fail(signal.reason);
        else if (error) queue.fail(fromWireError(error));
        else queue.end();
      },
      onLost(reason) {
        isRunning = false;
        queue.fail(reason);
      },
    },
  });
  const cancel = (reason: unknown) =>
    host.peer.notify('run/cancel', { session: session.id, reason: toWireError(reason) });
  using _stop = whenAborted(signal, () => {
    cancel(signal.reason);
    return after(STOP_GRACE_MS, () => queue.fail(signal.reason));
  });
  try {
    host.peer.notify('run/start', { session: session.id, graph_id, call: JSON.stringify(given), writer });
    yield* withCredit(queue, host, session.id);
  } finally {
    // The reader left before the end, or the run is not known to have stopped.
    if (isRunning) cancel(new Error('The run is abandoned.'));
  }
}

/** Yields the items of the queue; tells the host how many of its events were taken. */
async function* withCredit(
  queue: EventQueue<RunEvent>,
  host: Host,
  session: number,
): AsyncGenerator<RunEvent, void> {
  let taken = 0;
  for await (const event of queue) {
    yield event;
    if (!('json' in event)) continue;
    taken += event.json.length;
    if (taken < CREDIT_STEP) continue;
    host.peer.notify('run/credit', { session, bytes: taken });
    taken = 0;
  }
}

/** Calls `act` once when the signal is aborted; disposes of what it returns. */
function whenAborted(signal: AbortSignal, act: () => Disposable): Disposable {
  let acted: Disposable | undefined;
  const onAbort = () => {
    acted = act();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    [Symbol.dispose]() {
      signal.removeEventListener('abort', onAbort);
      acted?.[Symbol.dispose]();
    },
  };
}
