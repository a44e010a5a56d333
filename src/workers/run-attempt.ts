import type { Clock } from '../core/clock.ts';
import { LeaseLost } from '../core/errors.ts';
import { yieldTurn } from '../core/event-loop.ts';
import type { Logger } from '../core/logger.ts';
import { after } from '../core/timers.ts';
import type { EventBus } from '../events/bus.ts';
import type { LiveRun, LiveRuns } from '../events/live-runs.ts';
import { EventWriter } from '../events/writer.ts';
import type { GraphConfig, GraphMemory, GraphRegistry, GraphRuntime } from '../graphs/graph.ts';
import type { RunKwargs } from '../schemas/runs.ts';
import type { EndedRun } from '../schemas/system.ts';
import { EVENT_STREAMING } from '../services/run-options.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Lease } from '../storage/runs/lease.ts';
import type { AttemptWrites, AttemptWritesOptions } from '../storage/runs/write-buffer.ts';
import { conclude } from './run-conclusion.ts';
import { StopReason } from './stop-reason.ts';

export interface AttemptDeps {
  readonly queue: RunQueue;
  /** What an attempt writes, under its lease. */
  readonly writes: (lease: Lease, options: AttemptWritesOptions) => AttemptWrites;
  readonly live: LiveRuns;
  readonly bus: EventBus;
  readonly graphs: GraphRegistry;
  /** What the graph remembers with. */
  readonly memory: (writes: AttemptWrites, lease: Lease, durability: RunKwargs['durability']) => GraphMemory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: AttemptRules;
  /** Hears of every run that ended here. */
  readonly onEnded?: (run: EndedRun) => void;
}

export interface AttemptRules {
  /** A run that takes longer ends as `timeout`, ms. */
  readonly timeout_ms: number;
  /** How long the log of an ended run is kept, ms. */
  readonly keep_log_ms: number;
  /** Wait before a run that storage failed is tried again, ms. */
  readonly retry_ms: number;
  readonly version: string;
}

/** One attempt as far as it has come. */
export interface Attempt {
  readonly claimed: ClaimedRun;
  readonly kwargs: RunKwargs;
  readonly writes: AttemptWrites;
  readonly writer: EventWriter;
  readonly memory: GraphMemory;
  /** When it began, ms since 1970. */
  readonly started: number;
  /** Undefined when the graph could not be had. */
  graph: GraphRuntime | undefined;
  /** What the graph, or getting it, threw. */
  failure: unknown;
}

/**
 * Executes a claimed run from input to final status. Aborting `stop` with a `StopReason` ends it early.
 * Never throws: what goes wrong becomes the run's end, or a release for another attempt.
 */
export async function runAttempt(
  deps: AttemptDeps,
  claimed: ClaimedRun,
  stop: AbortController,
): Promise<void> {
  using live = deps.live.open(
    claimed.lease.run_id,
    claimed.last_seq,
    claimed.run.kwargs['resumable'] === true,
  );
  closeWhenLost(live, stop.signal);
  const attempt = begin(deps, claimed, live, stop);
  using _writes = attempt.writes;
  const timer = after(deps.rules.timeout_ms, () => stop.abort(timeout()));
  try {
    attempt.writer.write('metadata', { run_id: claimed.lease.run_id, attempt: claimed.lease.attempt });
    // Shown when it is logged; a graph that never pauses would keep the log waiting.
    if (attempt.kwargs.resumable) await attempt.writes.commit();
    await execute(deps, attempt, stop.signal);
  } catch (error) {
    attempt.failure = error;
  }
  timer[Symbol.dispose]();
  await conclude(deps, attempt, stop.signal);
}

/** Another process writes the run's log from then on, and followers here must not wait for a graph that goes on. */
function closeWhenLost(live: LiveRun, signal: AbortSignal): void {
  signal.addEventListener('abort', () => {
    const { reason } = signal;
    if (reason instanceof StopReason && reason.kind === 'lease lost') live[Symbol.dispose]();
  });
}

function begin(deps: AttemptDeps, claimed: ClaimedRun, live: LiveRun, stop: AbortController): Attempt {
  const { lease } = claimed;
  const kwargs = claimed.run.kwargs as RunKwargs;
  const writes = deps.writes(lease, {
    resumable: kwargs.resumable,
    onCommitted: (frames) => writer.committed(frames),
    onError: (error) => stop.abort(error instanceof LeaseLost ? new StopReason('lease lost') : error),
  });
  const { bus } = deps;
  const writer = new EventWriter({ ...lease, live, bus, writes, resumable: kwargs.resumable });
  const memory = deps.memory(writes, lease, kwargs.durability);
  const started = deps.clock.now();
  return { claimed, kwargs, writes, writer, memory, started, graph: undefined, failure: undefined };
}

async function execute({ graphs, rules }: AttemptDeps, attempt: Attempt, signal: AbortSignal): Promise<void> {
  const { claimed, kwargs, writer, memory } = attempt;
  const config = configOf(attempt, rules.version);
  const graph_id = String(config.configurable['graph_id']);
  attempt.graph = await graphs.get(graph_id, config, 'threads.create_run', kwargs.context);
  signal.throwIfAborted();
  // Its checkpoint holds the input, or the answer that resumed it: neither is applied twice (invariant 4).
  const fresh = !claimed.has_checkpoint;
  const events = attempt.graph.stream({
    input: fresh ? kwargs.input : null,
    command: fresh ? kwargs.command : null,
    strict_resume: kwargs.strict_resume === true,
    config,
    context: kwargs.context,
    stream_mode: kwargs.stream_mode,
    subgraphs: kwargs.subgraphs,
    protocol: kwargs.config.configurable[EVENT_STREAMING] === true,
    notices: kwargs.resumable,
    interrupt_before: kwargs.interrupt_before,
    interrupt_after: kwargs.interrupt_after,
    durability: kwargs.durability,
    memory,
    signal,
  });
  // Also after an abort, until the graph has stopped: its last checkpoint may still be on its way.
  for await (const event of events) {
    if ('checkpoint_id' in event) await writer.passed(event.checkpoint_id);
    else writer.write(event.event, event.data);
    await yieldTurn();
  }
  signal.throwIfAborted();
}

/** A later attempt goes on from the run's own newest checkpoint, wherever the run began. */
function configOf({ claimed, kwargs }: Attempt, version: string): GraphConfig {
  const { checkpoint_id, checkpoint_ns, checkpoint_map, ...rest } = kwargs.config.configurable;
  const from = claimed.has_checkpoint ? {} : { checkpoint_id, checkpoint_ns, checkpoint_map };
  const given = Object.entries(from).filter(([, value]) => value !== undefined);
  return {
    ...kwargs.config,
    configurable: { ...rest, ...Object.fromEntries(given) },
    metadata: {
      ...kwargs.config.metadata,
      run_attempt: claimed.lease.attempt,
      langgraph_api_version: version,
    },
  };
}

function timeout(): StopReason {
  return new StopReason('timeout', { error: 'TimeoutError', message: '' });
}
