import type { CheckpointConfig } from '../../schemas/thread-state.ts';

/** In a state, in place of a value that cannot be read; beside it the reason. Clients look for this key. */
const UNREADABLE = '__unreadable__';

/** Of one checkpoint: the channels whose values cannot be read, and why. */
export type UnreadableChannels = Readonly<Record<string, string>>;

export interface CheckpointPosition {
  readonly ns: string;
  readonly checkpoint_id: string;
}

/** What a checkpoint has in a channel whose value cannot be read; undefined leaves the channel empty. */
export type UnreadableFallback = (at: CheckpointPosition, channel: string, reason: string) => unknown;

/** A graph used a value of its state that cannot be read. */
export class UnreadableValueError extends Error {
  override readonly name = 'UnreadableValueError';
}

/** What libraries ask any object for, to find out what it is: that is no use of the value. */
const PROBES = new Set([
  'then',
  'constructor',
  '_getType',
  'lc_kwargs',
  'lc_serializable',
  'lc_graph_name',
  'lg_name',
  'lg_is_channel',
]);

/** Symbols with which a value itself is used: by loops and spreads, by operators and texts. */
const VALUE_SYMBOLS: ReadonlySet<string | symbol> = new Set([
  Symbol.iterator,
  Symbol.asyncIterator,
  Symbol.toPrimitive,
  Symbol.isConcatSpreadable,
]);

/**
 * Stands for the value of a channel that cannot be read while a graph runs: a node that does not need it never notices,
 * one that sets it anew repairs it, and one that uses it throws `UnreadableValueError`. An empty channel instead would
 * let a chat forget what was said, and save that. As JSON it is what states show; it cannot be stored anew.
 */
export function unreadableProxy(channel: string, reason: string): object {
  const error = new UnreadableValueError(
    `The value of channel "${channel}" cannot be read: ${reason}. Set a new value, or resume from an earlier checkpoint.`,
  );
  const refuse = () => {
    throw error;
  };
  return new Proxy(unreadableMarker(reason), {
    get(_target, key) {
      if (key === 'toJSON') return () => unreadableMarker(reason);
      if (typeof key === 'symbol' ? VALUE_SYMBOLS.has(key) : !PROBES.has(key)) throw error;
      return undefined;
    },
    has: (_target, key) => key === 'toJSON',
    ownKeys: refuse,
    set: refuse,
    deleteProperty: refuse,
  });
}

/** Collects what could not be read of the checkpoints behind a state, which is made without it. */
export class UnreadableReport {
  readonly #byCheckpoint = new Map<string, Record<string, string>>();

  readonly add: UnreadableFallback = ({ ns, checkpoint_id }, channel, reason) => {
    const key = `${ns}\n${checkpoint_id}`;
    this.#byCheckpoint.set(key, { ...this.#byCheckpoint.get(key), [channel]: reason });
  };

  /** Undefined when all of it could be read. */
  of(checkpoint: CheckpointConfig | null): UnreadableChannels | undefined {
    return this.#byCheckpoint.get(`${checkpoint?.checkpoint_ns ?? ''}\n${checkpoint?.checkpoint_id}`);
  }
}

/** Channels in which LangGraph keeps what it needs itself; they are no part of a state's values. */
const INTERNAL = /^(branch:|join:|__(?!root__$))/;

/** The values of a state with the reasons of those that cannot be read. */
export function withReasons(values: unknown, unreadable: UnreadableChannels | undefined): unknown {
  const reasons = Object.entries(unreadable ?? {}).filter(([channel]) => !INTERNAL.test(channel));
  if (reasons.length === 0) return values;
  // The state of a graph that has one channel alone is the value itself.
  const root = reasons.find(([channel]) => channel === '__root__');
  if (root) return unreadableMarker(root[1]);
  return {
    ...(values as object),
    ...Object.fromEntries(reasons.map(([channel, reason]) => [channel, unreadableMarker(reason)])),
  };
}

function unreadableMarker(reason: string): Record<string, string> {
  return { [UNREADABLE]: reason };
}
