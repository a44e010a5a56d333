import { HostLost, Unavailable } from '../../core/errors.ts';
import { EventQueue } from '../../core/event-queue.ts';
import { after, every, withDeadline } from '../../core/timers.ts';
import type { CheckpointWriter } from '../../graphs/checkpointer/checkpoint-access.ts';
import { Checkpointer } from '../../graphs/checkpointer/checkpointer.ts';
import type {
  CheckpointEvent,
  GraphCall,
  GraphMemory,
  OutputSink,
  SerializedEvent,
} from '../../graphs/graph.ts';
import { runFieldsOf } from '../../graphs/observability/run-fields.ts';
import type { CurrentStep } from '../../schemas/steps.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import { fromWireError, toWireError } from '../protocol/errors.ts';
import type { HostMethods, Params } from '../protocol/messages.ts';
import { runEventsOf } from '../protocol/run-events.ts';
import type { HostedRun } from '../protocol/watch.ts';
import { checkpointQuery, firstSearch } from './first-search.ts';
import type { Host } from './host.ts';
import type { HostPool } from './pool.ts';

/** Text of events after whose consumption a host may send as much again, characters. */
const CREDIT_STEP = 1024 * 1024;
/** Grace period of a cancelled run, ms: its host gives the graph half a second, and then reports the final thread state. */
const STOP_GRACE_MS = 1000;
/** A host that has not accepted a run within this time is blocked: the run goes to another one, ms. */
const ACCEPT_MS = 1000;
/** Longest wait for a host that is asked for the steps of a run, ms. */
const ANSWER_MS = 1000;

type RunEvent = SerializedEvent | CheckpointEvent;

/** Executes a run in a host, and yields its events as `GraphRuntime.stream` does. `onState`: the state that it leaves. */
export async function* remoteRun(
  pool: HostPool,
  graph_id: string,
  { memory, signal, drain, hand_over, host_losses = 0, onOutput = () => {}, ...call }: GraphCall,
  onState: (state: ThreadState) => void,
): AsyncGenerator<RunEvent, void> {
  signal.throwIfAborted();
  const { access, writer } = writerOf(memory);
  const { thread_id } = writer;
  const first = await firstSearch(access, checkpointQuery(call.config));
  const start = { graph_id, call: JSON.stringify(call), writer, first };
  await using own = await pool.isolation.enter(writer.run_id ?? '', host_losses, signal);
  // Without a pause before the session is open: runs that start at once must see each other to be spread.
  let host =
    own?.host ?? pool.find({ thread_id }) ?? (await pool.take({ thread_id, signal }).catch(notBegun));
  for (;;) {
    // An abort while the host was awaited has no listener yet.
    signal.throwIfAborted();
    const fields = { ...runFieldsOf(call.config), run_id: writer.run_id ?? '' };
    await using run = new RemoteRun(host, access, { fields, signal, onState, onOutput });
    run.start(start);
    using _drain = run.notifyOn(drain, 'run/drain');
    using _handOver = run.notifyOn(hand_over, 'run/hand_over');
    const other = await run.acceptedOr(() => (own ? undefined : pool.find({ thread_id, except: host })));
    if (!other) return yield* run.events();
    host = other;
  }
}

/** A long lack of hosts is not the run's fault. */
function notBegun(error: unknown): never {
  throw error instanceof Unavailable ? new HostLost(error.message, false) : error;
}

/** Access to checkpoints, which stays here, and what the host's own checkpointer is made from. */
export function writerOf({ checkpointer }: GraphMemory) {
  if (!(checkpointer instanceof Checkpointer))
    throw new TypeError('A graph host needs a checkpointer of the server.');
  const { access, ...writer } = checkpointer.writer;
  return { access, writer };
}

/** A run and its listeners. */
interface RunListeners {
  readonly fields: HostedRun;
  readonly signal: AbortSignal;
  /** The state that it leaves. */
  readonly onState: (state: ThreadState) => void;
  readonly onOutput: OutputSink;
}

/** One run in one host. */
class RemoteRun implements AsyncDisposable {
  readonly #host: Host;
  readonly #fields: HostedRun;
  readonly #signal: AbortSignal;
  readonly #queue = new EventQueue<RunEvent>();
  readonly #session: { readonly id: number } & Disposable;
  readonly #started = Promise.withResolvers<void>();
  #grace: Disposable | undefined;
  /** As far as this process knows. */
  #isRunning = true;
  /** The host has accepted it. */
  #isStarted = false;

  constructor(
    host: Host,
    checkpoints: CheckpointWriter['access'],
    { fields, signal, onState, onOutput }: RunListeners,
  ) {
    this.#host = host;
    this.#fields = fields;
    this.#signal = signal;
    this.#session = host.sessions.open({
      checkpoints,
      run: {
        run_id: fields.run_id,
        onEvents: (events) => {
          for (const event of runEventsOf(events)) this.#queue.push(event);
        },
        onOutput: ({ lines, dropped }) => onOutput({ lines, dropped, host: host.number }),
        onEnd: ({ error, state, handed_over }) => {
          if (state !== undefined) onState(JSON.parse(state));
          const failure = handed_over
            ? new HostLost('The graph host is being replaced.', false)
            : error && fromWireError(error);
          this.#end(signal.aborted ? signal.reason : failure);
        },
        onLost: (reason) => {
          // A run that never began is not the cause.
          const lost = this.#isStarted ? reason : new HostLost(reason.message, false);
          this.#end(signal.aborted ? signal.reason : lost);
        },
      },
    });
    checkpoints.observe?.(() => this.#currentSteps());
    checkpoints.executedElsewhere?.(() => host.sessions.isBusy);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  start(run: Omit<Params<HostMethods, 'run/start'>, 'session'>): void {
    this.#host.runs += 1;
    this.#host.peer
      .request('run/start', { session: this.#session.id, ...run })
      .then(() => {
        this.#isStarted = true;
        this.#started.resolve();
      })
      .catch((error: unknown) => {
        // A host that ends fails its sessions; else the request itself was at fault.
        if (!this.#host.peer.isClosed) this.#end(error);
      });
  }

  /** The host is notified before the answer to the checkpoint at which the signal was aborted. */
  notifyOn(signal: AbortSignal | undefined, message: 'run/drain' | 'run/hand_over'): Disposable {
    const notify = () => this.#host.peer.notify(message, { session: this.#session.id });
    if (signal?.aborted) notify();
    else signal?.addEventListener('abort', notify, { once: true });
    return { [Symbol.dispose]: () => signal?.removeEventListener('abort', notify) };
  }

  /** Waits until the host has accepted the run, or until it is late and there is another one. */
  async acceptedOr(findOther: () => Host | undefined): Promise<Host | undefined> {
    const late = Promise.withResolvers<Host>();
    let isDecided = false;
    const started = this.#started.promise.then(() => {
      isDecided = true;
      return undefined;
    });
    using _timer = every(ACCEPT_MS, () => {
      // If this process was the slow one, the answer may have arrived: read it first.
      setImmediate(() => {
        const other = isDecided ? undefined : findOther();
        if (other) late.resolve(other);
      });
    });
    // Awaited, or the timer would end now.
    return await Promise.race([started, late.promise]);
  }

  /** Yields the events, and acknowledges to the host how many were consumed. */
  async *events(): AsyncGenerator<RunEvent, void> {
    let taken = 0;
    for await (const event of this.#queue) {
      yield event;
      if (!('json' in event)) continue;
      taken += event.json.length;
      if (taken < CREDIT_STEP) continue;
      this.#host.peer.notify('run/credit', { session: this.#session.id, bytes: taken });
      taken = 0;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#grace?.[Symbol.dispose]();
    // The reader left before the end, or the run did not stop in time.
    if (this.#isRunning) this.#cancel(new Error('The run is abandoned.'));
    this.#session[Symbol.dispose]();
  }

  /** The host's own report, unless it is blocked. */
  async #currentSteps(): Promise<CurrentStep[] | undefined> {
    if (!this.#isRunning) return [];
    try {
      const answer = this.#host.peer.request('run/steps', { session: this.#session.id });
      return (await withDeadline(ANSWER_MS, answer)).steps;
    } catch {
      return undefined;
    }
  }

  /** `undefined`: it ended normally. */
  #end(error: unknown): void {
    this.#isRunning = false;
    this.#started.resolve();
    if (error === undefined) this.#queue.end();
    else this.#queue.fail(error);
  }

  readonly #onAbort = () => {
    this.#cancel(this.#signal.reason);
    this.#grace = after(STOP_GRACE_MS, () => {
      this.#host.cannotStop(this.#fields);
      this.#started.resolve();
      this.#queue.fail(this.#signal.reason);
    });
  };

  #cancel(reason: unknown): void {
    this.#host.peer.notify('run/cancel', { session: this.#session.id, reason: toWireError(reason) });
  }
}
