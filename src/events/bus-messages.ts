import { isObject } from '../core/json.ts';
import type { BusEvents } from './bus.ts';

/** A process on the bus, as it introduces itself at regular intervals. */
export interface Presence {
  /** Runs its background work: crons, webhooks, loops of extensions. */
  readonly is_worker: boolean;
  /** Concurrent runs; 0 executes none. */
  readonly slots: number;
  /** It has a listener for changes. */
  readonly watches?: boolean;
  /** It has just connected and does not know the others yet: they introduce themselves too. */
  readonly is_new?: true;
  /** It leaves. */
  readonly leaves?: true;
  /** Sent by another connection than the one that listens. */
  readonly is_probe?: true;
}

/** An event on its way to other processes. */
export interface SentEvent {
  readonly name: keyof BusEvents;
  readonly payload: readonly string[];
  /** The process that should act; absent: all. */
  readonly to?: string | undefined;
}

/** One notification: everything that a process had to say since the last one. */
export interface BusMessage {
  /** Id of the sending process. */
  readonly from: string;
  readonly presence?: Presence | undefined;
  readonly events?: readonly SentEvent[];
  /** Ids of what changed. */
  readonly updated?: readonly string[];
}

/** PostgreSQL accepts payloads below 8000 bytes. Ids are short: a longer one is dropped, its subscribers poll. */
const MAX_BYTES = 7900;
/** JSON around an entry, bytes. */
const OVERHEAD_BYTES = 8;

/** Texts of at most 7,900 bytes each that together carry the message. */
export function encodeMessages({ from, presence, events = [], updated = [] }: BusMessage): string[] {
  const texts: string[] = [];
  const fresh = () => ({ from, events: [] as SentEvent[], updated: [] as string[] });
  let part: BusMessage & ReturnType<typeof fresh> = presence ? { ...fresh(), presence } : fresh();
  let bytes = Buffer.byteLength(JSON.stringify(part));
  const empty_bytes = bytes;
  const add = <Entry>(list: (of: typeof part) => Entry[], entry: Entry) => {
    const size = Buffer.byteLength(JSON.stringify(entry)) + OVERHEAD_BYTES;
    if (empty_bytes + size > MAX_BYTES) return;
    if (bytes + size > MAX_BYTES) {
      texts.push(JSON.stringify(part));
      part = fresh();
      bytes = empty_bytes;
    }
    list(part).push(entry);
    bytes += size;
  };
  for (const event of events) add((of) => of.events, event);
  for (const id of updated) add((of) => of.updated, id);
  texts.push(JSON.stringify(part));
  return texts;
}

/** Returns `undefined` for anything but a message of this kind. Ignores what newer versions add. */
export function decodeMessage(text: string): BusMessage | undefined {
  const message = parse(text);
  if (!isObject(message) || typeof message['from'] !== 'string') return undefined;
  const { from, presence, events, updated } = message;
  return {
    from,
    ...(isObject(presence) && { presence: presence as unknown as Presence }),
    events: Array.isArray(events) ? events.filter(isSentEvent) : [],
    updated: Array.isArray(updated) ? updated.filter((id) => typeof id === 'string') : [],
  };
}

/**
 * Events that come from other processes, and how many texts they bring. Any role of the database may notify, so that
 * others, such as `error`, must not reach a listener.
 */
const SENT: { readonly [Name in keyof BusEvents]?: BusEvents[Name]['length'] } = {
  'runs.offered': 1,
  'run.cancelled': 1,
  'schedule.changed': 0,
  'delivery.queued': 0,
  'run.ended': 1,
  'extension.event': 2,
  'steps.asked': 3,
  'steps.answered': 4,
  'rows.changed': 3,
};

function isSentEvent(event: unknown): event is SentEvent {
  if (!isObject(event) || typeof event['name'] !== 'string' || !Object.hasOwn(SENT, event['name']))
    return false;
  const { name, payload, to } = event as { name: keyof typeof SENT; payload: unknown; to: unknown };
  const isPayload = Array.isArray(payload) && payload.every((value) => typeof value === 'string');
  return isPayload && payload.length >= (SENT[name] ?? 0) && (to === undefined || typeof to === 'string');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
