import { systemClock, timestamp } from '../../core/clock.ts';
import { isObject, toJson } from '../../core/json.ts';
import type { StreamMode } from '../../schemas/stream-mode.ts';
import { checkpointOf, namespaceConfigOf, publicConfig } from '../checkpoint-config.ts';
import type { GraphCall, GraphEvent } from '../graph.ts';
import { withPublicError, withPublicTasks } from '../public-errors.ts';
import { chunkType, isMessage, type Message, messageToWire, toWire } from '../wire.ts';
import { type CheckpointEvents, isRootNamespace } from './checkpoint-events.ts';
import { graphOfTask, type ToolTasks } from './event-places.ts';
import { GraphStates } from './graph-states.ts';
import { ProtocolNotes } from './protocol-notes.ts';
import type { SubgraphLifecycle } from './subgraph-lifecycle.ts';
import type { TaskFailure, TaskFailures } from './task-failures.ts';

/** An item of LangGraph's stream, requested with subgraphs and a list of modes. */
export type LangGraphChunk = readonly [namespace: readonly string[] | null, mode: string, payload: unknown];

type GraphModes = Pick<GraphCall, 'stream_mode' | 'subgraphs' | 'checkpoint_events'>;

/** Modes that LangGraph does not have under this name. */
const OWN_MODES: ReadonlySet<StreamMode> = new Set(['messages-tuple', 'events', 'lifecycle']);

/** The modes to request from LangGraph; mode `events` has its own stream. */
export function langGraphModes({
  stream_mode: modes,
  checkpoint_events: withCheckpoints,
}: GraphModes): string[] {
  const library = new Set<string>(modes.filter((mode) => !OWN_MODES.has(mode)));
  // Its tasks tell when a graph inside the graph ends.
  if (modes.includes('lifecycle')) library.add('tasks');
  if (modes.includes('messages-tuple')) library.add('messages');
  // States signal that a streamed message is complete, and tell of subgraphs. Mode `events` would show them.
  if (!modes.includes('events') || (modes.includes('messages') && !modes.includes('messages-tuple')))
    library.add('values');
  if (withCheckpoints) library.add('checkpoints');
  return [...library];
}

/** Metadata of a message, and its JSON text. */
interface WireMetadata {
  readonly data: unknown;
  readonly json: string;
}

interface StreamParts {
  readonly failures: TaskFailures;
  readonly tools: ToolTasks;
  readonly checkpointEvents: CheckpointEvents;
  /** Undefined unless mode `lifecycle` is requested. */
  readonly lifecycle: SubgraphLifecycle | undefined;
  readonly emit: (event: GraphEvent) => void;
  /** Leaves out the first state of the root graph. */
  readonly skipsState: boolean;
}

/**
 * Converts LangGraph's chunks to the events of contract §5. One instance per run: it accumulates messages and remembers
 * the last states, into which interrupts are merged.
 */
export class StreamModes {
  readonly #modes: ReadonlySet<StreamMode>;
  readonly #subgraphs: boolean;
  readonly #failures: TaskFailures;
  readonly #tools: ToolTasks;
  readonly #checkpointEvents: CheckpointEvents;
  readonly #lifecycle: SubgraphLifecycle | undefined;
  readonly #emit: (event: GraphEvent) => void;
  readonly #messages = new MessageStream();
  readonly #notes: ProtocolNotes;
  readonly #metadata = new WeakMap<object, WireMetadata>();
  readonly #states = new GraphStates();
  #skipsState: boolean;

  constructor(options: GraphModes, parts: StreamParts) {
    const { failures, tools, checkpointEvents, lifecycle, emit, skipsState } = parts;
    this.#skipsState = skipsState;
    this.#modes = new Set(options.stream_mode);
    this.#subgraphs = options.subgraphs;
    this.#failures = failures;
    this.#tools = tools;
    this.#checkpointEvents = checkpointEvents;
    this.#lifecycle = lifecycle;
    this.#emit = emit;
    this.#notes = new ProtocolNotes(emit, { hasRootStates: this.#modes.has('values') });
  }

  chunk([ns, mode, payload]: LangGraphChunk): void {
    const namespace = ns ?? [];
    const isState = mode === 'values' && isRootNamespace(namespace);
    if (isState && this.#skipsState) {
      this.#skipsState = false;
      return;
    }
    if (!isState) this.#checkpointEvents.flush();
    this.#lifecycle?.before(namespace, mode);
    this.#event(namespace, mode, payload);
    this.#lifecycle?.after(namespace, mode, payload);
    if (isState) this.#checkpointEvents.flush();
    else if (mode === 'checkpoints') this.#checkpointEvents.created(namespace, payload);
  }

  #event(namespace: readonly string[], mode: string, payload: unknown): void {
    if (mode === 'values') this.#value(namespace, payload);
    else if (mode === 'messages') this.#message(namespace, payload);
    else if (mode === 'tools') this.#tool(namespace, payload);
    else if (mode === 'tasks') this.#send('tasks', namespace, this.#task(payload));
    else if (mode === 'debug') this.#send('debug', namespace, this.#debug(payload));
    // With subgraphs LangGraph also sends short notices of checkpoints, unrequested: those have no `config`.
    else if (mode === 'checkpoints' && isObject(payload) && 'config' in payload)
      this.#send('checkpoints', namespace, checkpoint(payload));
    else if (mode === 'updates' || mode === 'custom') this.#send(mode, namespace, toWire(payload));
  }

  /** Call it when the graph has stopped without an error. */
  stopped(): void {
    this.#checkpointEvents.flush();
    this.#lifecycle?.stopped();
    this.#notes.end('completed');
  }

  /** Call it when the graph threw: emits the results of failed tasks, which LangGraph does not deliver. */
  failed(): void {
    this.#notes.end('failed');
    for (const failure of this.#failures.unreported()) {
      const payload = failedTask(failure);
      this.#send('tasks', failure.namespace, payload);
      const debug = {
        step: failure.step,
        type: 'task_result',
        timestamp: timestamp(systemClock.now()),
        payload,
      };
      this.#send('debug', failure.namespace, debug);
    }
    this.#lifecycle?.failed();
  }

  #isSent(mode: StreamMode, namespace: readonly string[]): boolean {
    return this.#modes.has(mode) && (namespace.length === 0 || this.#subgraphs);
  }

  #send(mode: StreamMode, namespace: readonly string[], data: unknown, name: string = mode): void {
    if (!this.#isSent(mode, namespace)) return;
    this.#emit({ event: [name, ...namespace].join('|'), data });
  }

  #value(namespace: readonly string[], payload: unknown): void {
    this.#notes.state(namespace, payload);
    const state = this.#isSent('values', namespace)
      ? this.#states.withInterrupts(namespace, payload)
      : undefined;
    if (state !== undefined) this.#send('values', namespace, toWire(state));
    if (this.#streamsMessages()) this.#messages.complete(payload, this.#emit);
  }

  #streamsMessages(): boolean {
    return this.#modes.has('messages') && !this.#modes.has('messages-tuple');
  }

  /** Tokens of subgraphs are sent without `stream_subgraphs` too, as in LangGraph.js: chat clients rely on them. */
  #message(namespace: readonly string[], payload: unknown): void {
    const [message, metadata] = payload as [unknown, unknown];
    if (!isMessage(message)) return;
    if (this.#streamsMessages()) {
      this.#messages.add(message, metadata, this.#emit);
      return;
    }
    if (!this.#modes.has('messages-tuple')) return;
    const place = this.#subgraphs ? graphOfTask(namespace, taskOf(metadata)) : [];
    const wire = messageToWire(message, chunkType(message));
    const of = this.#metadataOf(metadata);
    const event = ['messages', ...place].join('|');
    this.#emit({ event, data: [wire, of.data], json: `[${toJson(wire)},${of.json}]` });
  }

  /** All tokens of a model's call have the same object, which is longer than most tokens. */
  #metadataOf(metadata: unknown): WireMetadata {
    const known = isObject(metadata) ? this.#metadata.get(metadata) : undefined;
    if (known) return known;
    const data = toWire(metadata);
    const made = { data, json: toJson(data) };
    if (isObject(metadata)) this.#metadata.set(metadata, made);
    return made;
  }

  #tool(namespace: readonly string[], payload: unknown): void {
    const place = this.#subgraphs ? this.#tools.graphOf(namespace, payload) : [];
    this.#send('tools', place, toWire(withPublicError(payload)));
  }

  #task(payload: unknown): unknown {
    if (!isObject(payload) || !('result' in payload)) return toWire(payload);
    const failure = this.#failures.report(String(payload.id));
    if (failure) return failedTask(failure);
    const { id, name, ...outcome } = payload;
    return toWire(withPublicError({ id, name, error: null, ...outcome }));
  }

  #debug(payload: unknown): unknown {
    if (!isObject(payload)) return payload;
    if (payload.type === 'task_result') return { ...payload, payload: this.#task(payload.payload) };
    if (payload.type !== 'checkpoint' || !isObject(payload.payload)) return toWire(payload);
    return { ...payload, payload: debugCheckpoint(payload.payload) };
  }
}

function taskOf(metadata: unknown): unknown {
  return isObject(metadata) ? metadata.langgraph_checkpoint_ns : undefined;
}

function failedTask({ id, name, error }: TaskFailure): Record<string, unknown> {
  return { id, name, error, result: {}, interrupts: [] };
}

function checkpoint({ config, parentConfig, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const payload = { config: publicConfig(config), parent_config: publicConfig(parentConfig), ...rest };
  return toWire(withPublicTasks(payload)) as Record<string, unknown>;
}

/** Like `checkpoint`, with its address in the contract's terms as well as LangGraph's (contract §5 debug). */
function debugCheckpoint(payload: Record<string, unknown>): Record<string, unknown> {
  const tasks = Array.isArray(payload.tasks) ? payload.tasks.map(debugTask) : [];
  return {
    ...checkpoint({ ...payload, tasks }),
    checkpoint: checkpointOf(payload.config),
    parent_checkpoint: checkpointOf(payload.parentConfig),
  };
}

function debugTask(task: unknown): unknown {
  if (!isObject(task)) return task;
  const { state, ...rest } = task;
  const place = namespaceConfigOf(state);
  return place ? { ...rest, checkpoint: place } : task;
}

/**
 * Mode `messages` (contract §5), from LangGraph's chunks. Each new message is announced by `messages/metadata`; a
 * streamed one follows as accumulated so far (`messages/partial`). Each is sent once as a whole (`messages/complete`):
 * immediately if it was not streamed, otherwise when a state contains it.
 */
class MessageStream {
  readonly #announced = new Set<string>();
  readonly #growing = new Map<string, Message>();

  /** A chunk or a whole message of LangGraph's mode `messages`. */
  add(message: Message, metadata: unknown, emit: (event: GraphEvent) => void): void {
    const { id } = message;
    if (id === undefined) return;
    if (!this.#announced.has(id)) {
      this.#announced.add(id);
      emit({ event: 'messages/metadata', data: { [id]: { metadata: toWire(metadata) } } });
    }
    if (message.concat === undefined) {
      this.#growing.delete(id);
      emit({ event: 'messages/complete', data: [messageToWire(message)] });
      return;
    }
    const grown = this.#growing.get(id)?.concat?.(message) ?? message;
    this.#growing.set(id, grown);
    emit({ event: 'messages/partial', data: [messageToWire(grown)] });
  }

  /** Call it with each state: streamed messages may have arrived in it. */
  complete(values: unknown, emit: (event: GraphEvent) => void): void {
    if (this.#growing.size === 0 || !isObject(values)) return;
    for (const message of Object.values(values).flat()) {
      if (!isMessage(message) || message.id === undefined) continue;
      if (this.#growing.delete(message.id))
        emit({ event: 'messages/complete', data: [messageToWire(message)] });
    }
  }
}
