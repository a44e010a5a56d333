import type { Clock } from '../core/clock.ts';
import { LeaseLost } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { LiveRuns } from '../events/live-runs.ts';
import { EventWriter } from '../events/writer.ts';
import type { GraphConfig, GraphMemory, GraphRegistry, GraphRuntime } from '../graphs/graph.ts';
import type { RunKwargs } from '../schemas/runs.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { Lease } from '../storage/queue/lease.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { RunEventRepository } from '../storage/run-events.ts';
import { conclude } from './run-conclusion.ts';
import { StopReason } from './stop-reason.ts';

export interface AttemptDeps {
  readonly queue: RunQueue;
  readonly log: RunEventRepository;
  readonly live: LiveRuns;
  readonly bus: EventBus;
  readonly graphs: GraphRegistry;
  /** What the graph remembers with, fenced by the lease. */
  readonly memory: (lease: Lease, durability: RunKwargs['durability']) => GraphMemory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: AttemptRules;
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
  readonly writer: EventWriter;
  readonly memory: GraphMemory;
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
  const { lease } = claimed;
  const kwargs = claimed.run.kwargs as RunKwargs;
  using live = deps.live.open(lease.run_id, claimed.last_seq);
  const writer = new EventWriter({
    ...deps,
    lease,
    live,
    resumable: kwargs.resumable,
    onError: (error) => stop.abort(error instanceof LeaseLost ? new StopReason('lease lost') : error),
  });
  const timer = setTimeout(() => stop.abort(timeout()), deps.rules.timeout_ms);
  const memory = deps.memory(lease, kwargs.durability);
  const attempt: Attempt = { claimed, kwargs, writer, memory, graph: undefined, failure: undefined };
  try {
    writer.write('metadata', { run_id: lease.run_id, attempt: lease.attempt });
    await execute(deps, attempt, stop.signal);
  } catch (error) {
    attempt.failure = error;
  }
  clearTimeout(timer);
  await conclude(deps, attempt, stop.signal);
}

async function execute({ graphs, rules }: AttemptDeps, attempt: Attempt, signal: AbortSignal): Promise<void> {
  const { claimed, kwargs, writer, memory } = attempt;
  const config = configOf(attempt, rules.version);
  const graph_id = String(config.configurable['graph_id']);
  attempt.graph = await graphs.get(graph_id, config, 'threads.create_run', kwargs.context);
  // Its checkpoint holds the input, or the answer that resumed it: neither is applied twice (invariant 4).
  const fresh = !claimed.has_checkpoint;
  const events = attempt.graph.stream({
    input: fresh ? kwargs.input : null,
    command: fresh ? kwargs.command : null,
    config,
    context: kwargs.context,
    stream_mode: kwargs.stream_mode,
    subgraphs: kwargs.subgraphs,
    interrupt_before: kwargs.interrupt_before,
    interrupt_after: kwargs.interrupt_after,
    durability: kwargs.durability,
    memory,
    signal,
  });
  for await (const { event, data } of events) {
    if (signal.aborted) break;
    writer.write(event, data);
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
