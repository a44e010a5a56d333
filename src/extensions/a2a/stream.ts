import { type StreamResponse, TaskState } from '@a2a-js/sdk';
import type { Actor } from '../../auth/actor.ts';
import { undefinedIfNotFound } from '../../core/errors.ts';
import { Latch } from '../../core/latch.ts';
import { SAFETY_POLL_MS } from '../../events/safety-poll.ts';
import { isFinal } from '../../services/runs/transitions.ts';
import type { A2aContext } from './context.ts';
import type { A2aTaskRepository, A2aTaskRow } from './storage/tasks.ts';
import {
  ArtifactChunks,
  artifactUpdate,
  finalChunks,
  finalStatus,
  type Payload,
  payloadsOf,
} from './stream-payloads.ts';
import { isStopped, isTerminal, stateOf } from './task-view.ts';
import type { A2aTasks, HistoryScope } from './tasks.ts';

/** An event with its stream id, which is the same on every process. */
export interface TaskEvent {
  /** `<run id>:<number>`; `undefined` for a snapshot, which has no position in the stream. */
  readonly id: string | undefined;
  readonly response: StreamResponse;
}

export interface StreamOptions {
  readonly scope: HistoryScope;
  /** 0.3 clients read the answer from the final status only. */
  readonly answer_in_status: boolean;
}

/** Streams of task events. */
export function a2aStream(context: A2aContext, taskService: A2aTasks) {
  const { services, live, events } = context;
  async function* followTask(
    actor: Actor,
    row: A2aTaskRow,
    options: StreamOptions & { seen: number; muted: number },
    signal: AbortSignal,
  ): AsyncGenerator<TaskEvent> {
    let current: A2aTaskRow | undefined = row;
    let from = options;
    while (current) {
      const run_id: string = current.run_id;
      current = yield* eventsOf(context, taskService, actor, current, from, signal);
      // A different run id: another message reached the task while it was working.
      if (current?.run_id === run_id) return;
      from = { ...options, seen: 0, muted: 0 };
    }
  }

  return {
    /** Streams from the message just sent until the task is terminal or interrupted. */
    async *sent(actor: Actor, row: A2aTaskRow, options: StreamOptions, signal: AbortSignal) {
      const value = await taskService.asSubmitted(actor, row, options.scope);
      yield { id: `${row.run_id}:0`, response: { payload: { $case: 'task' as const, value } } };
      yield* followTask(actor, row, { ...options, seen: 0, muted: 0 }, signal);
    },

    /** Streams a snapshot, then live events; with `last_id`, resumes after that event. */
    async *subscribed(
      actor: Actor,
      row: A2aTaskRow,
      last_id: string | undefined,
      options: StreamOptions,
      signal: AbortSignal,
    ): AsyncGenerator<TaskEvent> {
      const [run_id, number] = (last_id ?? '').split(':');
      if (run_id === row.run_id && /^\d{1,9}$/.test(number ?? '')) {
        yield* followTask(actor, row, { ...options, seen: Number(number), muted: 0 }, signal);
        return;
      }
      const muted = live.get(row.run_id)?.last ?? (await events.lastSeq(row.run_id));
      const value = await taskService.view(actor, row, options.scope);
      yield { id: undefined, response: { payload: { $case: 'task', value } } };
      if (!isStopped(stateOf(row)))
        return yield* followTask(actor, row, { ...options, seen: 0, muted }, signal);
      const next = await untilResumed(context, taskService, row, signal);
      if (!next) return;
      if (next.run_id !== row.run_id)
        return yield* followTask(actor, next, { ...options, seen: 0, muted: 0 }, signal);
      const task = await taskService.view(actor, next, options.scope);
      yield { id: undefined, response: { payload: finalStatus(task, options.answer_in_status) } };
    },

    /** Resolves when the task is terminal or interrupted, or on abort. */
    async untilTerminalOrInterrupted(
      actor: Actor,
      row: A2aTaskRow,
      signal: AbortSignal,
    ): Promise<A2aTaskRow> {
      for (let current = row; ; ) {
        const { thread_id, run_id } = current;
        for await (const _ of await services.runs.joinStream(actor, thread_id, run_id, { after: 0 }, signal));
        const next: A2aTaskRow | undefined = await afterRun(context, taskService, actor, current, signal);
        if (!next || next.run_id === run_id) return next ?? current;
        current = next;
      }
    },
  };
}

/**
 * Waits until the interrupted task is resumed or cancelled, or its thread continues without it; `undefined` if it is
 * deleted, or on abort.
 */
async function untilResumed(
  { tasks, bus }: A2aContext,
  { finalize }: A2aTasks,
  row: A2aTaskRow,
  signal: AbortSignal,
): Promise<A2aTaskRow | undefined> {
  const changed = new Latch();
  using _subscription = bus.onUpdated(row.task_id, () => changed.open());
  while (!signal.aborted) {
    const found = await tasks.get(row.task_id);
    const now = found && (await tasks.isSuperseded(row.task_id)) ? await finalize(found) : found;
    if (!now || now.run_id !== row.run_id || isTerminal(stateOf(now))) return now;
    await changed.wait(SAFETY_POLL_MS, signal);
  }
  return undefined;
}

/** The task after the stream of its run has ended, finalized; `undefined` if it was deleted, or on abort. */
async function afterRun(
  { tasks, services: { runs } }: A2aContext,
  { finalize }: A2aTasks,
  actor: Actor,
  { task_id, thread_id, run_id }: A2aTaskRow,
  signal: AbortSignal,
): Promise<A2aTaskRow | undefined> {
  let row = await tasks.get(task_id);
  if (row?.run_id === run_id && !isFinal(row.run_status)) {
    for (const earlier of await tasks.runsPendingArtifacts(task_id)) {
      const frames = await runs
        .joinStream(actor, thread_id, earlier, { after: 'now' }, signal)
        .catch(undefinedIfNotFound);
      for await (const _ of frames ?? []);
    }
    row = await tasks.get(task_id);
  }
  return row && !signal.aborted ? finalize(row) : undefined;
}

/** Events of the current run after the first `seen`; frames up to `muted` are collapsed into a snapshot. */
async function* eventsOf(
  context: A2aContext,
  taskService: A2aTasks,
  actor: Actor,
  row: A2aTaskRow,
  { scope, answer_in_status, seen, muted }: StreamOptions & { seen: number; muted: number },
  signal: AbortSignal,
): AsyncGenerator<TaskEvent, A2aTaskRow | undefined> {
  const { tasks, services } = context;
  let number = 0;
  const numbered = (payload: Payload): TaskEvent => ({
    id: `${row.run_id}:${++number}`,
    response: { payload },
  });
  const chunks = new ArtifactChunks();
  const frames = await services.runs.joinStream(actor, row.thread_id, row.run_id, { after: 0 }, signal);
  let isMuted = muted > 0;
  function* snapshot(): Generator<TaskEvent> {
    if (isMuted)
      for (const chunk of chunks.snapshot())
        yield { id: undefined, response: { payload: artifactUpdate(row, chunk) } };
    isMuted = false;
  }
  let startedTask = row;
  for await (const frame of frames) {
    // Report the run's start time to every subscriber, including those that subscribed while it was queued.
    if (frame.event === 'metadata') startedTask = await startedRow(tasks, startedTask);
    if (frame.seq > muted) yield* snapshot();
    for (const payload of payloadsOf(startedTask, frame, chunks)) {
      const event = numbered(payload);
      if (!isMuted && number > seen) yield event;
    }
  }
  yield* snapshot();
  const finalized = await afterRun(context, taskService, actor, row, signal);
  if (finalized?.run_id !== row.run_id) return finalized;
  const task = await taskService.view(actor, finalized, scope);
  for (const payload of [...finalChunks(row, chunks, task), finalStatus(task, answer_in_status)]) {
    const event = numbered(payload);
    if (number > seen) yield event;
  }
  return finalized;
}

/** Rereads a row that may have been read before its run started. */
async function startedRow(tasks: A2aTaskRepository, row: A2aTaskRow): Promise<A2aTaskRow> {
  const now = await tasks.get(row.task_id);
  return now?.run_id === row.run_id && stateOf(now) === TaskState.TASK_STATE_WORKING ? now : row;
}
