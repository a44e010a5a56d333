import { LeaseLost } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { after } from '../core/timers.ts';
import { EventWriter, type LiveRun } from '../events/writer.ts';
import { requireClock, waitForClock } from '../graphs/checkpointer/clock-order.ts';
import { stopAtCheckpoint } from '../graphs/checkpointer/stop-at-checkpoint.ts';
import type { GraphConfig } from '../graphs/graph.ts';
import { RunOutput, withRunOutput } from '../graphs/observability/run-output.ts';
import { isEmptyCommand, withoutAnswers } from '../graphs/runtime/command.ts';
import type { Command } from '../schemas/command.ts';
import { graphIdOf, type RunKwargs } from '../schemas/runs.ts';
import { threadMetadata } from '../services/runs/run-options.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import {
  type Attempt,
  type AttemptContext,
  type MemoryOptions,
  recordAttempt,
  StopReason,
} from './attempt.ts';
import { AttemptLog, DEFAULT_OUTPUT_RULES } from './attempt-log.ts';
import { finalizeRun } from './finalize-run.ts';
import { firstWait, isFirst, runFields } from './run-log.ts';

/**
 * Executes a claimed run from input to final status. Aborting `stop` with a `StopReason` ends it early; once `handOver`
 * is aborted, it is requeued at its next checkpoint. Calls `onBegun` at each sign that its graph executes. Never throws: a
 * failure becomes the run's final status, or requeues the run for another attempt.
 */
export async function runAttempt(
  deps: AttemptContext,
  claimed: ClaimedRun,
  stop: AbortController,
  handOver: AbortSignal,
  onBegun: () => void = () => {},
): Promise<void> {
  using live = openLive(deps, claimed);
  closeWhenLeaseLost(live, stop.signal);
  // Before its time-out begins.
  await waitForClock(claimed.newest_checkpoint_id, stop.signal);
  const attempt = openAttempt(deps, claimed, live, { stop, handOver, onBegun });
  if (isFirst(attempt)) deps.meter?.observe('run_queue_wait_time_1st_attempt', firstWait(attempt));
  using _writes = attempt.writes;
  const timer = after(deps.rules.timeout_ms, () => stop.abort(timeoutReason()));
  const output = outputOf(deps, attempt);
  try {
    attempt.writer.write('metadata', { run_id: claimed.lease.run_id, attempt: claimed.lease.attempt });
    // It is published only once logged; a graph that never yields would delay the commit.
    if (attempt.kwargs.resumable) await attempt.writes.commit();
    await withRunOutput(output, () => execute(deps, attempt, stop.signal, onBegun));
  } catch (error) {
    attempt.failure = error;
  }
  timer[Symbol.dispose]();
  output[Symbol.dispose]();
  await finalizeRun(deps, attempt, stop.signal);
}

/** Once it is closed, its followers look where the log continues. */
function openLive({ live, bus }: AttemptContext, { lease, last_seq, run }: ClaimedRun): LiveRun {
  return live.open(lease.run_id, last_seq, run.kwargs.resumable, () => bus.updated(lease.run_id, 'local'));
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
  { stop, handOver, onBegun }: { stop: AbortController; handOver: AbortSignal; onBegun: () => void },
): Attempt {
  const { lease } = claimed;
  const { kwargs } = claimed.run;
  const observer = deps.observeAttempt?.(claimed);
  const writes = deps.writes(lease, {
    resumable: kwargs.resumable,
    mask: (deps.output ?? DEFAULT_OUTPUT_RULES).mask,
    observer,
    onCommitted: ({ frames, steps }) => {
      writer.committed(frames);
      log.committed();
      if (steps.length > 0) deps.onRecorded?.({ claimed, steps });
    },
    onError: (error) => stop.abort(error instanceof LeaseLost ? new StopReason('lease lost') : error),
  });
  const { bus, meter } = deps;
  const writer = new EventWriter({ ...lease, live, bus, writes, resumable: kwargs.resumable, meter });
  const stopHere = () => stop.abort(new StopReason('shutdown'));
  const onCheckpoint: MemoryOptions['onCheckpoint'] = (checkpoint, isElsewhere) => {
    onBegun();
    // A host stops it by itself: by now it may be in the next step, which would be executed a second time.
    return handOver.aborted && !isElsewhere ? stopAtCheckpoint(checkpoint, stopHere) : undefined;
  };
  const memory = deps.memory(writes, lease, {
    durability: kwargs.durability,
    onCheckpoint,
    has_history: claimed.has_history,
    gate: observer?.limit?.gate(writes),
  });
  const started = deps.clock.now();
  recordAttempt(deps, { writes, started, resumed_from_run_id: undefined });
  const log = new AttemptLog({
    logger: deps.logger,
    fields: runFields({ claimed, kwargs }),
    lease,
    assistant_id: claimed.run.assistant_id,
    is_first: isFirst({ claimed }),
    writes,
    rules: deps.output ?? DEFAULT_OUTPUT_RULES,
    onStored: (lines) => bus.emit('lines.stored', { ...lines, ...originOf(claimed) }),
  });
  const later = { resumed_from_run_id: undefined, graph: undefined, failure: undefined, stop: undefined };
  return { claimed, kwargs, writes, writer, memory, log, handOver, observer, started, ...later };
}

/** What followers of lines need to know of their run. */
function originOf({ lease, run, markers }: ClaimedRun) {
  const { assistant_id, metadata, kwargs } = run;
  const ids = { run_id: lease.run_id, thread_id: lease.thread_id, assistant_id };
  const isTemporary = kwargs.temporary && markers.thread_retention !== 'keep';
  return isTemporary
    ? { ...ids, thread_metadata: threadMetadata(metadata, graphIdOf(kwargs), assistant_id) }
    : ids;
}

/** What the code of the run prints in this process. */
function outputOf({ output }: AttemptContext, { log }: Attempt): RunOutput {
  const { is_logged } = output ?? DEFAULT_OUTPUT_RULES;
  return new RunOutput({ is_logged, sink: (batch) => log.add(batch) });
}

async function execute(
  deps: AttemptContext,
  attempt: Attempt,
  signal: AbortSignal,
  onBegun: () => void,
): Promise<void> {
  const { graphs, rules } = deps;
  const { claimed, kwargs, writer, memory } = attempt;
  const limit = attempt.observer?.limit;
  const config = attemptConfig(attempt, rules.version);
  const graph_id = graphIdOf(kwargs);
  attempt.graph = await graphs.get(graph_id, config, 'threads.create_run', kwargs.context);
  await limit?.open();
  signal.throwIfAborted();
  requireClock(claimed.newest_checkpoint_id);
  // The checkpoint holds the input or the resume value: neither is applied twice (invariant 4).
  const isFirstAttempt = !claimed.has_checkpoint;
  if (isFirstAttempt) await recordResumed(deps, attempt);
  const events = attempt.graph.stream({
    input: isFirstAttempt ? kwargs.input : null,
    command: isFirstAttempt ? await remainingCommand(deps, attempt) : null,
    continues: !isFirstAttempt,
    strict_resume: kwargs.strict_resume === true,
    config,
    context: kwargs.context,
    stream_mode: kwargs.stream_mode,
    subgraphs: kwargs.subgraphs,
    span: deps.spanOf?.(claimed),
    protocol: claimed.markers.is_event_streaming,
    checkpoint_events: kwargs.resumable,
    interrupt_before: kwargs.interrupt_before,
    interrupt_after: kwargs.interrupt_after,
    // Without checkpoints before its end, a run has no boundary at which a limit could stop it.
    durability: limit && kwargs.durability === 'exit' ? 'async' : kwargs.durability,
    memory,
    signal,
    drain: limit?.drain,
    hand_over: attempt.handOver,
    host_losses: claimed.host_losses,
    onOutput: (batch) => attempt.log.add(batch),
  });
  // Drain the stream after an abort too, until the graph has stopped: its last checkpoint may still be in flight.
  for await (const event of events) {
    onBegun();
    if ('checkpoint_id' in event) await writer.checkpointReached(event.checkpoint_id);
    else if ('json' in event) writer.writeJson(event.event, event.json);
    else writer.write(event.event, event.data);
    const turn = yieldToEventLoop();
    if (turn !== undefined) await turn;
  }
  signal.throwIfAborted();
}

/** The command without answers that an earlier attempt has taken: a later question of the same node would get them. */
async function remainingCommand(
  { takenAnswers }: AttemptContext,
  { claimed: { lease }, kwargs: { command } }: Attempt,
): Promise<Command | null> {
  if (!command || lease.starts === 1 || (command.resume ?? null) === null) return command;
  const taken = (await takenAnswers?.(lease)) ?? [];
  return taken.length === 0 ? command : withoutAnswers(command, taken);
}

/** Notes which run the attempt resumes. To be called before its graph writes anything at the checkpoint of that run. */
async function recordResumed(deps: AttemptContext, attempt: Attempt): Promise<void> {
  const { claimed, kwargs } = attempt;
  if (!deps.resumedRun || !resumes(kwargs)) return;
  const { thread_id, run_id } = claimed.lease;
  const { checkpoint_id, checkpoint_ns } = kwargs.config.configurable;
  const found = await deps.resumedRun({
    thread_id,
    run_id,
    ns: typeof checkpoint_ns === 'string' ? checkpoint_ns : '',
    checkpoint_id: typeof checkpoint_id === 'string' ? checkpoint_id : undefined,
  });
  if (found === undefined) return;
  attempt.resumed_from_run_id = found;
  recordAttempt(deps, attempt);
}

/** It answers an interrupt, or continues without an input. */
function resumes({ input, command }: RunKwargs): boolean {
  if (command === null || isEmptyCommand(command)) return input === null;
  return (command.resume ?? null) !== null;
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
