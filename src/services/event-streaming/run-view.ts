import { isObject, type JsonObject } from '../../core/json.ts';
import { PROTOCOL_NOTE } from '../../events/frame.ts';
import type { Namespace } from '../../schemas/event-streaming.ts';
import type { Frame } from '../../storage/runs/events.ts';
import type { EventPart } from './event-part.ts';
import { isWireMessage, MessageParts, type WireMessage } from './message-parts.ts';
import { toolMessageParts, toolStarts } from './tool-parts.ts';

/**
 * Derives protocol events from the frames of a run that was not started by event streaming: its stream modes, and the
 * notes about what they leave out. Must be given every frame of the run, in order.
 */
export class RunView {
  /** Messages that the run was given, or that were sent whole. */
  readonly #known = new Set<string>();
  /** The first state of the root graph was read: it holds what the run was given. */
  #isBegun = false;
  /** Interrupts that were sent. */
  readonly #asked = new Set<string>();
  /** The last state of each graph. */
  readonly #states = new Map<string, unknown>();
  /** Messages that are sent in parts, by id. */
  readonly #open = new Map<string, MessageParts>();
  /** Mode `messages` names the graph of a message once. */
  readonly #places = new Map<string, Namespace>();

  parts(frame: Frame): EventPart[] {
    const [name = '', ...namespace] = frame.event.split('|');
    return DERIVED.get(name)?.(this, namespace, JSON.parse(frame.data) as never) ?? [];
  }

  /** A state of the root graph brings its new messages; those of subgraphs are noted. */
  state(namespace: Namespace, state: unknown): EventPart[] {
    const messages = namespace.length === 0 ? this.#newMessages(state) : [];
    return [
      ...messages.flatMap((message) => this.#message(namespace, message)),
      ...this.#values(namespace, state),
      ...messages.flatMap((message) => toolStarts(namespace, message)),
    ];
  }

  /** A note of a message. */
  noted({ namespace, data }: { namespace: Namespace; data: WireMessage }): EventPart[] {
    return [...this.#message(namespace, data), ...toolStarts(namespace, data)];
  }

  /** A chunk of mode `messages-tuple`. */
  token(namespace: Namespace, [message, metadata]: [unknown, unknown]): EventPart[] {
    if (!isWireMessage(message) || !message.type.endsWith('Chunk')) return [];
    return this.#streamed(message.id, namespace.length > 0 ? namespace : placeOf(metadata)).add(message);
  }

  /** `messages/metadata` of mode `messages`. */
  announced(data: JsonObject): EventPart[] {
    for (const [id, of] of Object.entries(data))
      if (isObject(of)) this.#places.set(id, placeOf(of['metadata']));
    return [];
  }

  /** `messages/partial` of mode `messages`. */
  partial([message]: [unknown]): EventPart[] {
    if (!isWireMessage(message)) return [];
    return this.#streamed(message.id, this.#places.get(message.id) ?? []).update(message);
  }

  #newMessages(state: unknown): WireMessage[] {
    if (!isObject(state)) return [];
    const isFirst = !this.#isBegun;
    this.#isBegun = true;
    const messages = Object.values(state).flat().filter(isWireMessage);
    const found = messages.filter(({ id }) => !this.#known.has(id));
    for (const { id } of found) this.#known.add(id);
    return isFirst ? [] : found;
  }

  /** An interrupt comes with the state before it again. */
  #values(namespace: Namespace, state: unknown): EventPart[] {
    const place = namespace.join('|');
    const known = this.#states.get(place);
    if (!isObject(state) || !Array.isArray(state['__interrupt__'])) {
      this.#states.set(place, state);
      return [{ method: 'values', namespace, data: state }];
    }
    const { __interrupt__, ...rest } = state;
    const isKnown = known !== undefined && JSON.stringify(known) === JSON.stringify(rest);
    const requests = (__interrupt__ as { id: string; value: unknown }[])
      .filter(({ id }) => !this.#asked.has(id))
      .map(({ id, value }) => {
        this.#asked.add(id);
        return { method: 'input.requested', namespace, data: { interrupt_id: id, payload: value, value } };
      });
    return [...(isKnown ? [] : [{ method: 'values', namespace, data: rest }]), ...requests];
  }

  #message(namespace: Namespace, message: WireMessage): EventPart[] {
    this.#known.add(message.id);
    if (message.type === 'tool') return toolMessageParts(namespace, message);
    const parts = this.#streamed(message.id, namespace).finish(message);
    this.#open.delete(message.id);
    return parts;
  }

  #streamed(id: string, namespace: Namespace): MessageParts {
    const open = this.#open.get(id) ?? new MessageParts(namespace);
    this.#open.set(id, open);
    return open;
  }
}

type Derive = (view: RunView, namespace: Namespace, data: never) => EventPart[];

/** By the name of the frame. */
const DERIVED = new Map<string, Derive>([
  ['values', (view, namespace, data) => view.state(namespace, data)],
  ['messages', (view, namespace, data) => view.token(namespace, data)],
  ['messages/metadata', (view, _, data) => view.announced(data)],
  ['messages/partial', (view, _, data) => view.partial(data)],
  ['updates', (_, namespace, data) => updates(namespace, data)],
  ['tasks', (_, namespace, data) => [{ method: 'tasks', namespace, data }]],
  ['custom', (_, namespace, data) => [custom(namespace, data)]],
  [`${PROTOCOL_NOTE}message`, (view, _, data) => view.noted(data)],
]);

/** As LangGraph sends them: an object with a name is the event, and has a channel of its own. */
function custom(namespace: Namespace, data: unknown): EventPart {
  if (!isObject(data) || !('name' in data)) return { method: 'custom', namespace, data: { payload: data } };
  const { name } = data;
  return {
    method: 'custom',
    namespace,
    data,
    ...(typeof name === 'string' && { channel: `custom:${name}` }),
  };
}

/** The graph that holds the node of a model call. */
function placeOf(metadata: unknown): Namespace {
  const task = isObject(metadata) ? metadata['langgraph_checkpoint_ns'] : undefined;
  return typeof task === 'string' ? task.split('|').slice(0, -1) : [];
}

function updates(namespace: Namespace, data: JsonObject): EventPart[] {
  return Object.entries(data)
    .filter(([node]) => !node.startsWith('__'))
    .map(([node, update]) => ({ method: 'updates', namespace, node, data: { node, values: update } }));
}
