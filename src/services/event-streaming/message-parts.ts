import { isObject, type JsonObject } from '../../core/json.ts';
import type { Namespace } from '../../schemas/event-streaming.ts';
import type { EventPart } from './event-part.ts';

/** A message of a state, as JSON. */
export interface WireMessage extends JsonObject {
  readonly id: string;
  readonly type: string;
  readonly content: unknown;
}

export function isWireMessage(value: unknown): value is WireMessage {
  return (
    isObject(value) &&
    typeof value['id'] === 'string' &&
    typeof value['type'] === 'string' &&
    (typeof value['content'] === 'string' || Array.isArray(value['content']))
  );
}

type Block = JsonObject & { readonly type: string };

/** The events of one message of a model, as LangGraph makes them (`StreamProtocolMessagesHandler`). */
export class MessageParts {
  readonly #namespace: Namespace;
  /** Text of the blocks that were sent in parts, by index. */
  readonly #texts = new Map<number, string>();
  #isStarted = false;

  constructor(namespace: Namespace) {
    this.#namespace = namespace;
  }

  /** A chunk: its content is new text. */
  add(chunk: WireMessage): EventPart[] {
    const blocks = contentBlocks(chunk.content).filter(({ block }) => textOf(block) !== undefined);
    return [
      ...this.#start(chunk),
      ...blocks.flatMap(({ index, block }) => this.#grow(index, block, textOf(block) as string)),
    ];
  }

  /** The message as accumulated so far. */
  update(message: WireMessage): EventPart[] {
    const blocks = contentBlocks(message.content).filter(({ block }) => textOf(block) !== undefined);
    return [
      ...this.#start(message),
      ...blocks.flatMap(({ index, block }) => {
        const known = this.#texts.get(index)?.length ?? 0;
        return this.#grow(index, block, (textOf(block) as string).slice(known));
      }),
    ];
  }

  /** The whole message: what was not sent of it, and its end. */
  finish(message: WireMessage): EventPart[] {
    const content = contentBlocks(message.content);
    const blocks = [...content, ...toolCallBlocks(message, content.length)];
    const { usage_metadata: usage, response_metadata: responseMetadata } = message;
    const end = {
      event: 'message-finish',
      ...(isObject(usage) && { usage }),
      ...(isObject(responseMetadata) && { responseMetadata }),
    };
    return [
      ...this.#start(message),
      ...blocks.flatMap(({ index, block }) => this.#finishBlock(index, block)),
      this.#part(end),
    ];
  }

  #start({ id, type }: WireMessage): EventPart[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const role = ROLES[type] ?? 'ai';
    return [this.#part({ event: 'message-start', role, id })];
  }

  #grow(index: number, block: Block, text: string): EventPart[] {
    const known = this.#texts.get(index);
    if (text === '' && known === undefined) return [];
    this.#texts.set(index, (known ?? '') + text);
    const start =
      known === undefined
        ? [this.#part({ event: 'content-block-start', index, content: emptied(block) })]
        : [];
    return text === ''
      ? start
      : [...start, this.#part({ event: 'content-block-delta', index, delta: delta(block, text) })];
  }

  #finishBlock(index: number, block: Block): EventPart[] {
    const finish = this.#part({ event: 'content-block-finish', index, content: block });
    if (this.#texts.has(index)) return [finish];
    const text = textOf(block);
    if (text !== undefined) return [...this.#grow(index, block, text), finish];
    return [this.#part({ event: 'content-block-start', index, content: emptied(block) }), finish];
  }

  #part(data: object): EventPart {
    return { method: 'messages', namespace: this.#namespace, data };
  }
}

const ROLES: Readonly<Record<string, string>> = { human: 'human', system: 'system', tool: 'tool' };

function contentBlocks(content: unknown): { index: number; block: Block }[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ index: 0, block: { type: 'text', text: content } }];
  const blocks = Array.isArray(content) ? content.filter((block) => isObject(block)) : [];
  return blocks.map((block, place) => {
    const index = typeof block['index'] === 'number' ? block['index'] : place;
    return { index, block: block as Block };
  });
}

/** Calls of tools that the content does not name. */
function toolCallBlocks({ content, tool_calls: calls }: WireMessage, first: number) {
  const named = new Set(contentBlocks(content).map(({ block }) => block['id']));
  const others = Array.isArray(calls) ? calls.filter((call) => isObject(call) && !named.has(call['id'])) : [];
  return others.map(({ id, name, args }, place) => {
    return { index: first + place, block: { type: 'tool_call', id, name, args } };
  });
}

function textOf(block: Block): string | undefined {
  const text =
    block.type === 'text' ? block['text'] : block.type === 'reasoning' ? block['reasoning'] : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** A block before its first part. */
function emptied(block: Block): Block {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'reasoning') return { type: 'reasoning', reasoning: '' };
  if (block.type !== 'tool_call') return block;
  return { type: 'tool_call_chunk', id: block['id'], name: block['name'], args: '' };
}

function delta({ type }: Block, text: string): object {
  return type === 'text' ? { type: 'text-delta', text } : { type: 'reasoning-delta', reasoning: text };
}
