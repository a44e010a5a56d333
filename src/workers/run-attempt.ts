import { LeaseLost } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { after } from '../core/timers.ts';
import { EventWriter, type LiveRun } from '../events/writer.ts';
import type { GraphConfig } from '../graphs/graph.ts';
import { graphIdOf } from '../services/runs/run-options.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import { type Attempt, type AttemptContext, StopReason } from './attempt.ts';
import { finalizeRun } from './finalize-run.ts';

/**
 * Executes a claimed run from input to final status. Aborting `stop` with a `StopReason` ends it early. Never throws: a
 * failure becomes the run's final status, or requeues the run for another attempt.
 */
export async function runAttempt(
  deps: AttemptContext,
  claimed: ClaimedRun,
  stop: AbortController,
): Promise<void> {
  using live = deps.live.open(claimed.lease.run_id, claimed.last_seq, claimed.run.kwargs.resumable);
  closeWhenLeaseLost(live, stop.signal);
  const attempt = openAttempt(deps, claimed, live, stop);
  using _writes = attempt.writes;
  const timer = after(deps.rules.timeout_ms, () => stop.abort(timeoutReason()));
  try {
    attempt.writer.write('metadata', { run_id: claimed.lease.run_id, attempt: claimed.lease.attempt });
    // It is published only once logged; a graph that never yields would delay the commit.
    if (attempt.kwargs.resumable) await attempt.writes.commit();
    await execute(deps, attempt, stop.signal);
  } catch (error) {
    attempt.failure = error;
  }
  timer[Symbol.dispose]();
  await finalizeRun(deps, attempt, stop.signal);
}

/** Another process writes the log from then on: followers here must not wait for a graph that still runs. */
function closeWhenLeaseLost(live: LiveRun, signal: AbortSignal): void {
  signal.addEventListener('abort', () => {
    const { reason } = signal;
    if (reason instanceof StopReason && reason.kind === 'lease lost') live[Symbol.dispose]();
  });
}

function openAttempt(
  deps: AttemptContext,
  claimed: ClaimedRun,
  live: LiveRun,
  stop: AbortController,
): Attempt {
  const { lease } = claimed;
  const { kwargs } = claimed.run;
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

async function execute(
  { graphs, rules }: AttemptContext,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const { claimed, kwargs, writer, memory } = attempt;
  const config = attemptConfig(attempt, rules.version);
  const graph_id = graphIdOf(kwargs);
  attempt.graph = await graphs.get(graph_id, config, 'threads.create_run', kwargs.context);
  signal.throwIfAborted();
  // The checkpoint holds the input or the resume value: neither is applied twice (invariant 4).
  const isFirstAttempt = !claimed.has_checkpoint;
  const events = attempt.graph.stream({
    input: isFirstAttempt ? kwargs.input : null,
    command: isFirstAttempt ? kwargs.command : null,
    strict_resume: kwargs.strict_resume === true,
    config,
    context: kwargs.context,
    stream_mode: kwargs.stream_mode,
    subgraphs: kwargs.subgraphs,
    protocol: claimed.markers.is_event_streaming,
    checkpoint_events: kwargs.resumable,
    interrupt_before: kwargs.interrupt_before,
    interrupt_after: kwargs.interrupt_after,
    durability: kwargs.durability,
    memory,
    signal,
  });
  // Drain the stream after an abort too, until the graph has stopped: its last checkpoint may still be in flight.
  for await (const event of events) {
    if ('checkpoint_id' in event) await writer.checkpointReached(event.checkpoint_id);
    else if ('json' in event) writer.writeJson(event.event, event.json);
    else writer.write(event.event, event.data);
    await yieldToEventLoop();
  }
  signal.throwIfAborted();
}

/** A later attempt resumes from the run's own newest checkpoint, wherever the run started. */
function attemptConfig({ claimed, kwargs }: Attempt, version: string): GraphConfig {
  const { checkpoint_id, checkpoint_ns, checkpoint_map, ...rest } = kwargs.config.configurable;
  const resumeFrom = claimed.has_checkpoint ? {} : { checkpoint_id, checkpoint_ns, checkpoint_map };
  const given = Object.entries(resumeFrom).filter(([, value]) => value !== undefined);
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

function timeoutReason(): StopReason {
  return new StopReason('timeout', { error: 'TimeoutError', message: '' });
}
