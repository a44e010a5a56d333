import type { Clock } from '../../core/clock.ts';
import { isObject } from '../../core/json.ts';
import type { ThreadFrame } from '../../events/follow-thread.ts';
import { EVENTS_LOST, type Frame, isEnd, isLostEvents, PROTOCOL_EVENT } from '../../events/frame.ts';
import type { Namespace } from '../../schemas/event-streaming.ts';
import type { Run } from '../../schemas/runs.ts';
import type { RunOutcome } from '../../storage/runs/events.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import { graphIdOf } from '../runs/run-options.ts';

/** An event of the protocol (CONTRACT §7), with what a filter asks about beside its text. */
export interface ProtocolEvent {
  readonly seq: number;
  readonly method: string;
  readonly channel: string;
  readonly namespace: Namespace;
  /** The event as JSON, made once for everybody. */
  readonly text: string;
}

export type Translate = (entry: ThreadFrame) => Promise<ProtocolEvent[]>;

interface EventPart {
  readonly method: string;
  /** Where it is not the method's own. */
  readonly channel?: string;
  readonly namespace?: Namespace;
  readonly data: unknown;
}

/**
 * What an entry of a thread's log is in the protocol. Runs made by event streaming have logged its events already; of
 * others the beginning, the values with what they ask, and the end are shown. The protocol has no word for events that
 * are lost, and an unknown method could stop a client: they are told of on the channel `custom`.
 */
export function translator(runs: Pick<RunRepository, 'get'>, clock: Clock): Translate {
  let last: { run_id: string; run: Run | undefined } | undefined;

  /** The same run for many entries, so it is kept until its end, when it has changed. */
  async function runOf(run_id: string, fresh: boolean): Promise<Run | undefined> {
    if (fresh || last?.run_id !== run_id) last = { run_id, run: await runs.get(undefined, run_id) };
    return last.run;
  }

  return async ({ seq, run_id, frame }) => {
    if (frame.event.startsWith(PROTOCOL_EVENT)) return [loggedEvent(seq, frame)];
    const parts = partsOf(frame);
    if (parts.length === 0) return [];
    const run = await runOf(run_id, isEnd(frame));
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
  return method === 'input.requested' ? 'input' : method;
}

function customChannel(params: string): string {
  const { data } = JSON.parse(params) as { data: unknown };
  return isObject(data) && typeof data['name'] === 'string' ? `custom:${data['name']}` : 'custom';
}

function partsOf(frame: Frame): EventPart[] {
  const [event, ...namespace] = frame.event.split('|');
  if (isEnd(frame))
    return [{ method: 'lifecycle', data: lifecycleEventOf(JSON.parse(frame.data) as RunOutcome) }];
  // A later attempt goes on with the same run. Its number does not tell: a server that stops gives its attempt back.
  if (event === 'metadata')
    return frame.seq === 1 ? [{ method: 'lifecycle', data: { event: 'running' } }] : [];
  if (isLostEvents(frame)) {
    const data = { name: EVENTS_LOST, payload: JSON.parse(frame.data) };
    return [{ method: 'custom', channel: `custom:${EVENTS_LOST}`, data }];
  }
  return event === 'values' ? values(namespace, JSON.parse(frame.data)) : [];
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

/** How a run ended, as its lifecycle event. */
export function lifecycleEventOf({ status, waits, error }: RunOutcome): Record<string, unknown> {
  if (status === 'success') return { event: waits ? 'interrupted' : 'completed' };
  return status === 'error' || status === 'timeout' ? { event: 'failed', error } : { event: 'interrupted' };
}

function graphOf(run: Run | undefined): string | undefined {
  return run && graphIdOf(run.kwargs);
}
