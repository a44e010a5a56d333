import { type StreamResponse, TaskState } from '@a2a-js/sdk';
import type { Actor } from '../../auth/actor.ts';
import { Latch } from '../../core/latch.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Sources } from '../../events/follow.ts';
import { SAFETY_POLL_MS } from '../../events/safety-poll.ts';
import type { A2aTaskRepository, A2aTaskRow } from '../../storage/a2a/tasks.ts';
import type { RunService } from '../runs.ts';
import { artifactUpdate, lastPieces, lastStatus, type Payload, payloadsOf } from './payloads.ts';
import { Pieces } from './pieces.ts';
import { isAtRest, isTerminal, stateOf } from './task-view.ts';
import type { A2aTasks, HistoryScope } from './tasks.ts';

export interface A2aStreamDeps {
  readonly tasks: A2aTaskRepository;
  readonly runs: Pick<RunService, 'joinStream'>;
  readonly bus: Pick<EventBus, 'onHint'>;
  readonly sources: Pick<Sources, 'live' | 'log'>;
}

/** An event with its place in the stream of its run: the same on every process. */
export interface TaskEvent {
  /** `<run id>:<number>`; undefined for the task as it is, which has no place. */
  readonly id: string | undefined;
  readonly response: StreamResponse;
}

export interface StreamOptions {
  readonly scope: HistoryScope;
  /** Clients of protocol 0.3 read the answer from the last status alone. */
  readonly tells_answer: boolean;
}

export type A2aStream = ReturnType<typeof a2aStream>;

/** What happens to a task, as events. */
export function a2aStream(deps: A2aStreamDeps, of: A2aTasks) {
  const { tasks, runs, sources, bus } = deps;
  async function* toRest(
    actor: Actor,
    row: A2aTaskRow,
    options: StreamOptions & { seen: number; muted: number },
    signal: AbortSignal,
  ): AsyncGenerator<TaskEvent> {
    let current: A2aTaskRow | undefined = row;
    let from = options;
    while (current) {
      const run_id: string = current.run_id;
      current = yield* eventsOf(deps, of, actor, current, from, signal);
      // Another message went to the task while it worked.
      if (current?.run_id === run_id) return;
      from = { ...options, seen: 0, muted: 0 };
    }
  }

  /** The task once somebody answered its question or gave it up; undefined when it is gone, or on abort. */
  async function answered(row: A2aTaskRow, signal: AbortSignal): Promise<A2aTaskRow | undefined> {
    const news = new Latch();
    using _subscription = bus.onHint(row.task_id, () => news.open());
    while (!signal.aborted) {
      const now = await tasks.get(row.task_id);
      if (!now || now.run_id !== row.run_id || isTerminal(stateOf(now))) return now;
      await news.wait(SAFETY_POLL_MS, signal);
    }
    return undefined;
  }

  return {
    /** From a message that was just sent to the end of the task, or until it asks something. */
    async *sent(actor: Actor, row: A2aTaskRow, options: StreamOptions, signal: AbortSignal) {
      const value = await of.asSubmitted(actor, row, options.scope);
      yield { id: `${row.run_id}:0`, response: { payload: { $case: 'task' as const, value } } };
      yield* toRest(actor, row, { ...options, seen: 0, muted: 0 }, signal);
    },

    /** The task as it is, then what comes; after `last_id`, what a client has not seen. */
    async *subscribed(
      actor: Actor,
      row: A2aTaskRow,
      last_id: string | undefined,
      options: StreamOptions,
      signal: AbortSignal,
    ): AsyncGenerator<TaskEvent> {
      const [run_id, number] = (last_id ?? '').split(':');
      if (run_id === row.run_id && /^\d{1,9}$/.test(number ?? '')) {
        yield* toRest(actor, row, { ...options, seen: Number(number), muted: 0 }, signal);
        return;
      }
      const muted = sources.live.get(row.run_id)?.last ?? (await sources.log.lastSeq(row.run_id));
      const value = await of.view(actor, row, options.scope);
      yield { id: undefined, response: { payload: { $case: 'task', value } } };
      if (!isAtRest(stateOf(row))) return yield* toRest(actor, row, { ...options, seen: 0, muted }, signal);
      const next = await answered(row, signal);
      if (!next) return;
      if (next.run_id !== row.run_id)
        return yield* toRest(actor, next, { ...options, seen: 0, muted: 0 }, signal);
      const task = await of.view(actor, next, options.scope);
      yield { id: undefined, response: { payload: lastStatus(task, options.tells_answer) } };
    },

    /** Resolves when the task has ended or waits, or on abort. */
    async rest(actor: Actor, row: A2aTaskRow, signal: AbortSignal): Promise<A2aTaskRow> {
      for (let current = row; ; ) {
        const { thread_id, run_id } = current;
        for await (const _ of await runs.joinStream(actor, thread_id, run_id, { after: 0 }, signal));
        const now = await tasks.get(row.task_id);
        if (!now || signal.aborted) return now ?? current;
        current = await of.settled(now);
        if (current.run_id === run_id) return current;
      }
    },
  };
}

/** All events of the current run after the first `seen`; those of frames up to `muted` as they are by then. */
async function* eventsOf(
  { tasks, runs }: A2aStreamDeps,
  of: A2aTasks,
  actor: Actor,
  row: A2aTaskRow,
  { scope, tells_answer, seen, muted }: StreamOptions & { seen: number; muted: number },
  signal: AbortSignal,
): AsyncGenerator<TaskEvent, A2aTaskRow | undefined> {
  let number = 0;
  const numbered = (payload: Payload): TaskEvent => ({
    id: `${row.run_id}:${++number}`,
    response: { payload },
  });
  const pieces = new Pieces();
  const frames = await runs.joinStream(actor, row.thread_id, row.run_id, { after: 0 }, signal);
  let isMuted = muted > 0;
  let begun = row;
  for await (const frame of frames) {
    // Everybody is given the time at which it began, also who has followed since before.
    if (frame.event === 'metadata') begun = await startedRow(tasks, begun);
    if (isMuted && frame.seq > muted) {
      isMuted = false;
      for (const piece of pieces.whole())
        yield { id: undefined, response: { payload: artifactUpdate(row, piece) } };
    }
    for (const payload of payloadsOf(begun, frame, pieces)) {
      const event = numbered(payload);
      if (!isMuted && number > seen) yield event;
    }
  }
  if (signal.aborted) return undefined;
  const now = await tasks.get(row.task_id);
  if (!now) return undefined;
  const settled = await of.settled(now);
  if (settled.run_id !== row.run_id) return settled;
  const task = await of.view(actor, settled, scope);
  for (const payload of [...lastPieces(row, pieces, task), lastStatus(task, tells_answer)]) {
    const event = numbered(payload);
    if (number > seen) yield event;
  }
  return settled;
}

/** The row of a task that was read before its run began, as it is since then. */
async function startedRow(tasks: A2aStreamDeps['tasks'], row: A2aTaskRow): Promise<A2aTaskRow> {
  if (stateOf(row) !== TaskState.TASK_STATE_SUBMITTED) return row;
  const now = await tasks.get(row.task_id);
  return now?.run_id === row.run_id && stateOf(now) === TaskState.TASK_STATE_WORKING ? now : row;
}
