import { LeaseLost } from '../../core/errors.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import { failureForLog, toError } from '../../core/failure.ts';
import { toJson } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import { stopAtCheckpoint } from '../../graphs/checkpointer/stop-at-checkpoint.ts';
import type { GraphCall, GraphRegistry, GraphRuntime } from '../../graphs/graph.ts';
import { RunOutput, withRunOutput } from '../../graphs/observability/run-output.ts';
import type { CurrentStep } from '../../schemas/steps.ts';
import type { NewCheckpoint } from '../../storage/checkpoints/put.ts';
import { fromWireError, toWireError } from '../protocol/errors.ts';
import type { HostMethods, Params, ServerMethods } from '../protocol/messages.ts';
import { addRunEvent } from '../protocol/run-events.ts';
import type { Messages, ServerConnection } from './connection.ts';
import { busyNow, sessionMemory } from './memory.ts';
import type { Watch } from './watch.ts';

/** Text of events that a run may send before the server has taken it, characters. */
const EVENT_WINDOW = 8 * 1024 * 1024;

type Start = Params<HostMethods, 'run/start'>;

type RunEvent = ReturnType<GraphRuntime['stream']> extends AsyncIterable<infer Event> ? Event : never;

/** The part of a `GraphCall` that crosses, as JSON. */
type WireCall = Omit<GraphCall, 'memory' | 'signal' | 'drain' | 'hand_over' | 'onOutput'>;

interface Run {
  readonly stop: AbortController;
  readonly drain: AbortController;
  readonly events: EventSender;
  readonly output: RunOutput;
  /** Its steps that the server does not know yet. */
  currentSteps: () => CurrentStep[];
  /** It stops at its next checkpoint. */
  isHandedOver: boolean;
  /** The server has taken it from this process: another one may be executing it. */
  isTaken: boolean;
}

/** Why a run stops: another host, or another process, continues from its last checkpoint. */
class HandedOver extends Error {
  override readonly name = 'AbortError';
}

/** Executes runs; sends their events, then their end with the state that they leave. */
export function hostRuns(server: ServerConnection, graphs: GraphRegistry, logger: Logger, watch: Watch) {
  const runs = new Map<number, Run>();

  async function execute(start: Start, run: Run): Promise<void> {
    const { stop, drain, events } = run;
    const { session, graph_id, writer } = start;
    const call: WireCall = JSON.parse(start.call);
    const handOver = () => stop.abort(new HandedOver('The run continues in another host.'));
    const onCheckpoint = (checkpoint: NewCheckpoint) =>
      run.isHandedOver ? stopAtCheckpoint(checkpoint, handOver) : undefined;
    const memory = sessionMemory(untilTaken(server, watch, run), session, writer, {
      first: start.first,
      onCheckpoint,
    });
    run.currentSteps = memory.currentSteps;
    const graph = await graphs.get(graph_id, call.config, 'threads.create_run', call.context);
    let error: unknown;
    try {
      for await (const event of graph.stream({ ...call, memory, signal: stop.signal, drain: drain.signal })) {
        await events.send(event);
        await yieldToEventLoop();
      }
    } catch (thrown) {
      // `undefined` is an error too.
      error = thrown ?? new Error(String(thrown));
    }
    events.flush();
    error ??= events.failure;
    const steps = memory.takeSteps();
    if (error instanceof HandedOver) return endWith({ session, handed_over: true, steps }, run);
    const state = await stateAfter(logger, () => graph.state(configOf(writer), memory, false));
    endWith({ session, ...(error !== undefined && { error: toWireError(error) }), state, steps }, run);
  }

  /** Nothing that the run printed comes after its end. */
  function endWith(end: Params<ServerMethods, 'run/end'>, { output }: Run): void {
    output[Symbol.dispose]();
    server.notify('run/end', end);
  }

  stopWithWatch(watch, runs);
  // The process ends: lines that are held back would be lost.
  process.on('exit', () => {
    for (const { output } of runs.values()) output.flush();
  });

  return {
    start(params: Start): Record<string, never> {
      const { session } = params;
      const output = outputOf(server, params);
      const run = newRun(new EventSender(server, session), output);
      runs.set(session, run);
      watch.countRuns(runs.size);
      setImmediate(() => {
        // The answer goes first: a node that blocks at once would seem not to have been accepted.
        server.flush();
        withRunOutput(output, () => execute(params, run))
          .catch((error: unknown) => endWith({ session, error: toWireError(error) }, run))
          .finally(() => {
            runs.delete(session);
            watch.countRuns(runs.size);
          });
      });
      return {};
    },

    /** A run that has ended already is left alone. */
    cancel({ session, reason }: Params<HostMethods, 'run/cancel'>): void {
      const run = runs.get(session);
      run?.stop.abort(fromWireError(reason));
      run?.events.open();
    },

    handOver({ session }: Params<HostMethods, 'run/hand_over'>): void {
      const run = runs.get(session);
      if (run) run.isHandedOver = true;
    },

    steps: ({ session }: Params<HostMethods, 'run/steps'>) => ({
      steps: runs.get(session)?.currentSteps() ?? [],
    }),

    drain({ session }: Params<HostMethods, 'run/drain'>): void {
      runs.get(session)?.drain.abort();
    },

    credit({ session, bytes }: Params<HostMethods, 'run/credit'>): void {
      runs.get(session)?.events.addCredit(bytes);
    },
  };
}

/** Stops runs that the watch thread reports: all before the lease ends, or those that the server has taken. */
function stopWithWatch(watch: Watch, runs: ReadonlyMap<number, Run>): void {
  watch.onLeaseEnds(() => {
    for (const { stop } of runs.values()) stop.abort(new HandedOver('The lease of the server expired.'));
  });
  watch.onTaken((sessions) => {
    for (const run of sessions.flatMap((session) => runs.get(session) ?? [])) {
      run.isTaken = true;
      run.stop.abort(new HandedOver('The run continues in another host.'));
    }
  });
}

/** The connection of a run until it is taken: each step of a graph begins after a message of the one before. */
function untilTaken(server: ServerConnection, watch: Watch, run: Run): Messages {
  const throwIfTaken = () => {
    watch.look();
    if (run.isTaken) throw new LeaseLost('that another host continues');
  };
  return {
    async request(method, params) {
      throwIfTaken();
      return server.request(method, params);
    },
    notify(method, params) {
      throwIfTaken();
      server.notify(method, params);
    },
  };
}

/** Sent at once: what is printed before a crash explains it best. */
function outputOf(server: ServerConnection, { session, writer: { run_id } }: Start): RunOutput {
  return new RunOutput({
    is_logged: true,
    sink: ({ lines, dropped }) => {
      server.notify('run/output', { session, run_id, lines: [...lines], dropped });
      server.flush();
    },
  });
}

function newRun(events: EventSender, output: RunOutput): Run {
  const [stop, drain] = [new AbortController(), new AbortController()];
  return { stop, drain, events, output, currentSteps: () => [], isHandedOver: false, isTaken: false };
}

/** An unreadable state must not keep the run from ending. */
async function stateAfter(logger: Logger, read: () => Promise<unknown>): Promise<string | undefined> {
  try {
    return JSON.stringify(await read());
  } catch (error) {
    // The state of a run that was deleted, or that another process has, is not needed.
    if (!(error instanceof LeaseLost))
      logger.error('cannot read the state after a run', { error: failureForLog(error) });
    return undefined;
  }
}

function configOf({ thread_id }: Start['writer']) {
  return { configurable: { thread_id } };
}

/** Sends the events of a run, those of one turn of the event loop together, within a window. */
class EventSender {
  readonly #server: ServerConnection;
  readonly #session: number;
  #events: string[] = [];
  #credit = EVENT_WINDOW;
  #onCredit: () => void = () => {};
  #isOpen = false;
  #failure: Error | undefined;

  constructor(server: ServerConnection, session: number) {
    this.#server = server;
    this.#session = session;
  }

  /** Why an event could not be sent; those after it are not sent either. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Waits while the window is used up: LangGraph then keeps what the graph produces meanwhile. Throws `FrameError` once an
   * event was too large.
   */
  send(event: RunEvent): Promise<void> | undefined {
    if (this.#failure) throw this.#failure;
    if (this.#events.length === 0) setImmediate(() => this.flush());
    if ('checkpoint_id' in event) {
      addRunEvent(this.#events, event);
      return undefined;
    }
    const json = 'json' in event ? event.json : toJson(event.data);
    addRunEvent(this.#events, { event: event.event, json });
    this.#credit -= json.length;
    if (this.#credit > 0 || this.#isOpen) return undefined;
    return new Promise((resolve, reject) => {
      this.#onCredit = () => (this.#failure ? reject(this.#failure) : resolve());
    });
  }

  flush(): void {
    const events = this.#events;
    if (events.length === 0 || this.#failure) return;
    this.#events = [];
    try {
      this.#server.notify('run/events', { session: this.#session, ...busyNow(), events });
    } catch (error) {
      this.#failure = toError(error);
      this.#onCredit();
    }
  }

  addCredit(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > 0) this.#onCredit();
  }

  /** The window no longer holds anything back: the run is being stopped. */
  open(): void {
    this.#isOpen = true;
    this.#onCredit();
  }
}
