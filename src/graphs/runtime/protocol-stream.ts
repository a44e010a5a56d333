import { isObject } from '../../core/json.ts';
import { PROTOCOL_EVENT } from '../../events/frame.ts';
import type { GraphEvent } from '../graph.ts';
import { withPublicError, withPublicMessage, withPublicTasks } from '../public-errors.ts';
import { isMessage, toWire } from '../wire.ts';
import { type CheckpointEvents, isRootNamespace, parentNamespace } from './checkpoint-events.ts';
import { FirstState } from './first-state.ts';

/** One event of LangGraph's `streamEvents` version v3. */
export interface LangGraphEvent {
  readonly method: string;
  params: {
    readonly namespace: readonly string[];
    readonly timestamp: number;
    readonly node?: string;
    readonly data: unknown;
  };
}

type Params = LangGraphEvent['params'];
type Namespace = readonly string[];

/** Emitted by a graph itself; all others by one of its nodes. */
const GRAPH_METHODS = new Set(['values', 'updates', 'tasks', 'checkpoints']);

/** Passed through unchanged, except for errors. */
const PASSTHROUGH: Readonly<Record<string, (data: unknown) => unknown>> = {
  tasks: withPublicError,
  checkpoints: withPublicTasks,
  custom: (data) => data,
};

/**
 * Converts LangGraph's events to those that the clients of both languages understand (contract §7, the table of
 * differences). One instance per run. Without the root graph's own lifecycle: it depends on the end of the run.
 */
export class ProtocolStream {
  readonly #emit: (event: GraphEvent) => void;
  readonly #checkpointEvents: CheckpointEvents;
  readonly #firstState: FirstState;
  /** Lifecycle starts of namespaces that may be nodes instead of graphs; nodes have no lifecycle. */
  readonly #unconfirmed = new Map<string, Params>();
  readonly #graphs = new Set<string>();
  /** By id; the innermost graph that reports an interrupt is the one that raised it. */
  readonly #interrupts = new Map<string, { namespace: Namespace; timestamp: number; value: unknown }>();

  #skipsState: boolean;

  /** `skipsState`: the first state of the root graph is left out. */
  constructor(emit: (event: GraphEvent) => void, checkpointEvents: CheckpointEvents, skipsState: boolean) {
    this.#skipsState = skipsState;
    this.#firstState = new FirstState(emit, checkpointEvents);
    this.#emit = (event) => this.#firstState.emit(event);
    this.#checkpointEvents = checkpointEvents;
  }

  /** Converts the events of a graph, to its end. */
  async read(events: AsyncIterable<LangGraphEvent>): Promise<void> {
    try {
      for await (const event of events) {
        this.#convert(event);
        releasePayload(event);
      }
    } catch (error) {
      this.#firstState.failed();
      throw error;
    }
    this.#firstState.release();
    this.#end();
  }

  #convert(event: LangGraphEvent): void {
    const { method, params } = event;
    const isState = method === 'values' && isRootNamespace(params.namespace);
    if (isState && this.#skipsState) {
      this.#skipsState = false;
      return;
    }
    this.#firstState.before(event, isState);
    if (!isState) this.#flushCheckpoint();
    this.#event(event);
    if (isState) this.#flushCheckpoint();
    else if (method === 'checkpoints') this.#checkpointEvents.created(params.namespace, params.data);
  }

  #flushCheckpoint(): void {
    if (!this.#firstState.isHeld) this.#checkpointEvents.flush();
  }

  #event({ method, params }: LangGraphEvent): void {
    if (GRAPH_METHODS.has(method)) this.#openGraph(params.namespace);
    if (method === 'lifecycle') this.#lifecycle(params);
    else if (method === 'values') this.#values(params);
    else if (method === 'updates') this.#updates(params);
    else if (method === 'messages')
      this.#send(method, params, message(params.data), parentNamespace(params.namespace));
    else if (method === 'tools') this.#tool(params);
    else if (Object.hasOwn(PASSTHROUGH, method))
      this.#send(method, params, toWire(PASSTHROUGH[method]?.(params.data)));
    else if (method.startsWith('custom:')) this.#extension(method.slice('custom:'.length), params);
  }

  /** The graph has stopped: its interrupts follow its last values. */
  #end(): void {
    this.#checkpointEvents.flush();
    for (const [interrupt_id, { namespace, timestamp, value }] of this.#interrupts) {
      const payload = toWire(value);
      // The JavaScript SDK reads `payload`, the Python SDK `value`.
      const data = { interrupt_id, payload, value: payload };
      this.#send('input.requested', { namespace, timestamp, data }, data);
    }
  }

  #send(
    method: string,
    { namespace, timestamp, node }: Params,
    data: unknown,
    place: Namespace = namespace,
  ): void {
    const params = { namespace: place, timestamp, ...(node !== undefined && { node }), data };
    this.#emit({ event: [PROTOCOL_EVENT + method, ...place].join('|'), data: params });
  }

  #lifecycle(params: Params): void {
    const { namespace, data } = params;
    if (namespace.length === 0) return;
    if (this.#graphs.has(keyOf(namespace))) this.#send('lifecycle', params, data);
    else if (isObject(data) && data['event'] === 'started') this.#unconfirmed.set(keyOf(namespace), params);
  }

  #openGraph(namespace: Namespace): void {
    const key = keyOf(namespace);
    if (namespace.length === 0 || this.#graphs.has(key)) return;
    this.#graphs.add(key);
    const begun = this.#unconfirmed.get(key);
    if (begun) this.#send('lifecycle', begun, begun.data);
  }

  #values(params: Params): void {
    const { data } = params;
    if (isObject(data) && Array.isArray(data['__interrupt__'])) {
      this.#interrupted(params, data['__interrupt__']);
      return;
    }
    this.#send('values', params, toWire(data));
  }

  #updates(params: Params): void {
    const values = isObject(params.data) ? params.data['values'] : undefined;
    if (params.node === '__interrupt__') this.#interrupted(params, values);
    else this.#send('updates', params, toWire(params.data));
  }

  #interrupted({ namespace, timestamp }: Params, interrupts: unknown): void {
    for (const interrupt of Array.isArray(interrupts) ? interrupts : []) {
      const { id, value } = interrupt as { id: string; value: unknown };
      const known = this.#interrupts.get(id);
      if (!known || known.namespace.length < namespace.length) {
        this.#interrupts.set(id, { namespace, timestamp, value });
      }
    }
  }

  #tool(params: Params): void {
    const { data } = params;
    const place = parentNamespace(params.namespace);
    const output = isObject(data) ? data['output'] : undefined;
    if (isMessage(output)) this.#toolMessage(params, place, toWire(output) as Record<string, unknown>);
    this.#send('tools', params, tool(data), place);
  }

  /**
   * A tool's result is also a message under its tool call, as in the Python server. Whether it has an id by now depends
   * on timing: the reducer of the state gives it one.
   */
  #toolMessage(params: Params, place: Namespace, { tool_call_id, content }: Record<string, unknown>): void {
    const under = [...place, `tools:${String(tool_call_id)}`];
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const events = [
      { event: 'message-start', role: 'tool', id: `tool-${String(tool_call_id)}`, tool_call_id },
      { event: 'content-block-start', index: 0, content: { type: 'text', text: '' } },
      { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text } },
      { event: 'content-block-finish', index: 0, content: { type: 'text', text } },
      { event: 'message-finish' },
    ];
    for (const event of events) this.#send('messages', params, event, under);
  }

  /** Output of a stream transformer of the graph, under its own name. */
  #extension(name: string, params: Params): void {
    this.#send('custom', params, { name, payload: toWire(params.data) });
  }
}

function keyOf(namespace: Namespace): string {
  return namespace.join('|');
}

/** `message-start` carries the role, and alone carries the `run_id` of the model call. */
function message(data: unknown): unknown {
  if (!isObject(data)) return toWire(data);
  if (data['event'] === 'message-start') return toWire({ event: 'message-start', role: 'ai', ...data });
  const { run_id: _, ...rest } = data;
  return toWire(rest);
}

/** LangGraph sends the input as JSON text; clients of both languages expect the object. */
function tool(data: unknown): unknown {
  if (!isObject(data) || typeof data['input'] !== 'string') return toWire(withPublicMessage(data));
  try {
    return toWire({ ...data, input: JSON.parse(data['input']) });
  } catch {
    return toWire(data);
  }
}

/**
 * LangGraph retains all events of a run until its end, for late readers; here there is only one reader. The event is
 * LangGraph's own copy, so that clearing it affects nothing else. Its messages and root states are in further lists,
 * which cannot be reached.
 */
function releasePayload(event: { params: LangGraphEvent['params'] }): void {
  const { namespace, timestamp } = event.params;
  event.params = { namespace, timestamp, data: undefined };
}
