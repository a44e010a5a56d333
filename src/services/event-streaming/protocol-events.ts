import type { Clock } from '../../core/clock.ts';
import { namesInterrupts } from '../../core/interrupt-ids.ts';
import { isObject } from '../../core/json.ts';
import type { ThreadFrame } from '../../events/follow-thread.ts';
import { EVENTS_LOST, type Frame, isLostEvents, PROTOCOL_EVENT } from '../../events/frame.ts';
import type { Namespace } from '../../schemas/event-streaming.ts';
import type { Run } from '../../schemas/runs.ts';
import { isEnd, type RunOutcome } from '../../storage/runs/events.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import { graphIdOf } from '../runs/run-options.ts';

/** A protocol event (CONTRACT §7), with the fields that filters match on. */
export interface ProtocolEvent {
  readonly seq: number;
  readonly method: string;
  readonly channel: string;
  readonly namespace: Namespace;
  /** The event as JSON, serialized once for all subscribers. */
  readonly text: string;
}

export type Translate = (entry: ThreadFrame) => Promise<ProtocolEvent[]>;

interface EventPart {
  readonly method: string;
  /** Default: the method's own channel. */
  readonly channel?: string;
  readonly namespace?: Namespace;
  readonly data: unknown;
}

/**
 * Translates entries of a thread's log to protocol events. Runs started by event streaming log protocol events already;
 * for others it synthesizes the start, the values with their interrupts, and the end. The protocol has no event for
 * lost events, and an unknown method could stop a client: they are published on the channel `custom`.
 */
export function translator(runs: Pick<RunRepository, 'get'>, clock: Clock): Translate {
  let last: { run_id: string; run: Run | undefined } | undefined;

  /** Caches the run across consecutive entries; rereads it at its end, when its row has changed. */
  async function runOf(run_id: string, fresh: boolean): Promise<Run | undefined> {
    if (fresh || last?.run_id !== run_id) last = { run_id, run: await runs.get(undefined, run_id) };
    return last.run;
  }

  return async ({ seq, run_id, frame }) => {
    if (frame.event.startsWith(PROTOCOL_EVENT)) return [loggedEvent(seq, frame)];
    const own = partsOf(frame);
    if (own.length === 0) return [];
    const run = await runOf(run_id, isEnd(frame));
    const parts = frame.event === 'metadata' ? [...own, ...resumedInterrupts(run)] : own;
    const timestamp = run ? Date.parse(isEnd(frame) ? run.updated_at : run.created_at) : clock.now();
    return parts.map((part, index) => synthesizedEvent(seq, index, part, timestamp, graphOf(run)));
  };
}

function loggedEvent(seq: number, { event, data }: Frame): ProtocolEvent {
  const [method = '', ...namespace] = event.slice(PROTOCOL_EVENT.length).split('|');
  const channel = method === 'custom' ? customChannel(data) : channelOf(method);
  return { seq, method, channel, namespace, text: textOf(seq, String(seq), method, data) };
}

function synthesizedEvent(
  seq: number,
  index: number,
  { method, channel = channelOf(method), namespace = [], data }: EventPart,
  timestamp: number,
  graph_name: string | undefined,
): ProtocolEvent {
  const named = method === 'lifecycle' && graph_name ? { ...(data as object), graph_name } : data;
  const params = JSON.stringify({ namespace, timestamp, data: named });
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
  const [event, ...namespace] = frame.event.split('|');
  if (isEnd(frame))
    return [{ method: 'lifecycle', data: lifecycleEventOf(JSON.parse(frame.data) as RunOutcome) }];
  // Only seq 1 starts the run. The attempt number would not do: a draining server gives its attempt back.
  if (event === 'metadata')
    return frame.seq === 1 ? [{ method: 'lifecycle', data: { event: 'running' } }] : [];
  if (isLostEvents(frame)) {
    const data = { name: EVENTS_LOST, payload: JSON.parse(frame.data) };
    return [{ method: 'custom', channel: `custom:${EVENTS_LOST}`, data }];
  }
  return event === 'values' ? values(namespace, JSON.parse(frame.data)) : [];
}

/**
 * Announces to every client of the thread that a run answers these interrupts, by id: they stop asking. Sent before the
 * answer is validated.
 */
function resumedInterrupts(run: Run | undefined): EventPart[] {
  const resume = run?.kwargs.command?.resume;
  return namesInterrupts(resume)
    ? [{ method: 'input.answered', data: { interrupt_ids: Object.keys(resume) } }]
    : [];
}

function values(namespace: Namespace, state: unknown): EventPart[] {
  if (!isObject(state) || !Array.isArray(state['__interrupt__'])) {
    return [{ method: 'values', namespace, data: state }];
  }
  const { __interrupt__, ...rest } = state;
  const requests = (__interrupt__ as { id: string; value: unknown }[]).map(({ id, value }) => ({
    method: 'input.requested',
    namespace,
    data: { interrupt_id: id, payload: value, value },
  }));
  return [{ method: 'values', namespace, data: rest }, ...requests];
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
