import type { Clock } from '../../core/clock.ts';
import { namesInterrupts } from '../../core/interrupt-ids.ts';
import { isObject } from '../../core/json.ts';
import { PAGE } from '../../events/follow.ts';
import type { ThreadFrame } from '../../events/follow-thread.ts';
import { EVENTS_LOST, type Frame, isLostEvents, PROTOCOL_EVENT, PROTOCOL_NOTE } from '../../events/frame.ts';
import type { Namespace } from '../../schemas/event-streaming.ts';
import { graphIdOf, type Run } from '../../schemas/runs.ts';
import { isEnd, type RunEventRepository, type RunOutcome } from '../../storage/runs/events.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import { isFinal } from '../runs/transitions.ts';
import type { EventPart } from './event-part.ts';
import { RunView } from './run-view.ts';

/** A protocol event (contract §7), with the fields that filters match on. */
export interface ProtocolEvent {
  readonly seq: number;
  readonly method: string;
  readonly channel: string;
  readonly namespace: Namespace;
  /** The event as JSON, serialized once for all subscribers. */
  readonly text: string;
}

export type Translate = (entry: ThreadFrame) => Promise<ProtocolEvent[]>;

export interface TranslatorDeps {
  readonly runs: RunRepository;
  readonly log: RunEventRepository;
  readonly clock: Clock;
}

/** The run that is being read. */
interface Current {
  readonly run_id: string;
  run: Run | undefined;
  /** Last frame, if the run had ended when it was met. */
  readonly last_seq: number | undefined;
  readonly view: RunView;
}

/**
 * Translates entries of a thread's log to protocol events. Runs started by event streaming log protocol events already;
 * for others they are derived from what the run logs (`RunView`). The protocol has no event for lost events, and an
 * unknown method could stop a client: they are published on the channel `custom`.
 */
export function translator({ runs, log, clock }: TranslatorDeps): Translate {
  let current: Current | undefined;

  /** Rereads the run's row at its end, when it has changed. */
  async function currentOf(run_id: string, frame: Frame): Promise<Current> {
    if (current?.run_id === run_id) {
      if (isEnd(frame)) current.run = await runs.get(undefined, run_id);
      return current;
    }
    const run = await runs.get(undefined, run_id);
    const last_seq = run && isFinal(run.status) ? await log.lastSeq(run_id) : undefined;
    current = { run_id, run, last_seq, view: new RunView() };
    if (!isEnd(frame)) await readUpTo(log, current, frame.seq);
    return current;
  }

  return async ({ seq, run_id, frame }) => {
    const logged = loggedEvents(seq, frame);
    if (logged.length > 0 && !isFirstOfGraph(frame)) return logged;
    const { run, view, last_seq } = await currentOf(run_id, frame);
    const own = logged.length > 0 ? [] : [...partsOf(frame), ...view.parts(frame)];
    const parts = isFirstOfGraph(frame) ? [...own, ...resumedInterrupts(run)] : own;
    const timestamp = (run && timestampOf(run, frame, last_seq)) ?? clock.now();
    const derived = parts.map((part, index) =>
      derivedEvent(seq, logged.length + index, part, timestamp, graphOf(run)),
    );
    return [...logged, ...derived];
  };
}

const NOTED_LIFECYCLE = `${PROTOCOL_NOTE}lifecycle|`;

function loggedEvents(seq: number, frame: Frame): ProtocolEvent[] {
  if (frame.event.startsWith(PROTOCOL_EVENT)) return [loggedEvent(seq, PROTOCOL_EVENT, frame)];
  return frame.event.startsWith(NOTED_LIFECYCLE) ? [loggedEvent(seq, PROTOCOL_NOTE, frame)] : [];
}

/** What follows the run's `metadata`. A run whose answer is refused logs its error there: the graph never begins. */
function isFirstOfGraph(frame: Frame): boolean {
  return frame.seq === 2 && !isEnd(frame) && frame.event !== 'error';
}

/** A reader that begins within a run: what is derived of a frame depends on those before it. */
async function readUpTo(
  log: TranslatorDeps['log'],
  { run_id, view }: Pick<Current, 'run_id' | 'view'>,
  seq: number,
): Promise<void> {
  for (let last = 0; last < seq - 1; ) {
    const { frames, isLast } = await log.readAfter(run_id, last, PAGE);
    for (const frame of frames) if (frame.seq < seq) view.parts(frame);
    last = frames.at(-1)?.seq ?? seq;
    if (isLast) return;
  }
}

/**
 * Frames have no time of their own; `undefined` is now. Clients ignore states that are older than the one they loaded:
 * those of a run that continues, and the last one of a run that has ended, must not be.
 */
function timestampOf(run: Run, frame: Frame, last_seq: number | undefined): number | undefined {
  if (isEnd(frame) || (last_seq !== undefined && frame.seq === last_seq - 1))
    return Date.parse(run.updated_at);
  return frame.event === 'metadata' || last_seq !== undefined ? Date.parse(run.created_at) : undefined;
}

function loggedEvent(seq: number, prefix: string, { event, data }: Frame): ProtocolEvent {
  const [method = '', ...namespace] = event.slice(prefix.length).split('|');
  const channel = method === 'custom' ? customChannel(data) : channelOf(method);
  return { seq, method, channel, namespace, text: textOf(seq, String(seq), method, data) };
}

function derivedEvent(
  seq: number,
  index: number,
  { method, channel = channelOf(method), namespace = [], node, data }: EventPart,
  timestamp: number,
  graph_name: string | undefined,
): ProtocolEvent {
  const named = method === 'lifecycle' && graph_name ? { ...(data as object), graph_name } : data;
  const params = JSON.stringify({ namespace, timestamp, ...(node !== undefined && { node }), data: named });
  const event_id = index === 0 ? String(seq) : `${seq}.${index}`;
  return { seq, method, channel, namespace, text: textOf(seq, event_id, method, params) };
}

function textOf(seq: number, event_id: string, method: string, params: string): string {
  return `{"type":"event","event_id":"${event_id}","seq":${seq},"method":"${method}","params":${params}}`;
}

function channelOf(method: string): string {
  return method.startsWith('input.') ? 'input' : method;
}

function customChannel(params: string): string {
  const { data } = JSON.parse(params) as { data: unknown };
  return isObject(data) && typeof data['name'] === 'string' ? `custom:${data['name']}` : 'custom';
}

function partsOf(frame: Frame): EventPart[] {
  if (isEnd(frame))
    return [{ method: 'lifecycle', data: lifecycleEventOf(JSON.parse(frame.data) as RunOutcome) }];
  // Only seq 1 starts the run. The attempt number would not do: a draining server gives its attempt back.
  if (frame.event === 'metadata')
    return frame.seq === 1 ? [{ method: 'lifecycle', data: { event: 'running' } }] : [];
  if (isLostEvents(frame)) {
    const data = { name: EVENTS_LOST, payload: JSON.parse(frame.data) };
    return [{ method: 'custom', channel: `custom:${EVENTS_LOST}`, data }];
  }
  return [];
}

/**
 * Announces to every client of the thread that a run answered these interrupts, by id: they stop asking.
 */
function resumedInterrupts(run: Run | undefined): EventPart[] {
  const resume = run?.kwargs.command?.resume;
  return namesInterrupts(resume)
    ? [{ method: 'input.answered', data: { interrupt_ids: Object.keys(resume) } }]
    : [];
}

/** Lifecycle event of a run's outcome. */
export function lifecycleEventOf({ status, waits, error, refusal }: RunOutcome): Record<string, unknown> {
  if (status === 'success') return { event: waits ? 'interrupted' : 'completed' };
  return status === 'error' || status === 'timeout'
    ? { event: 'failed', error, ...refusal }
    : { event: 'interrupted' };
}

function graphOf(run: Run | undefined): string | undefined {
  return run && graphIdOf(run.kwargs);
}
