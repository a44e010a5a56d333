import { isObject, type JsonObject } from '../../core/json.ts';

/** A chat message of the graph state as JSON; `content` is text or a list of blocks. */
export interface StateMessage extends JsonObject {
  readonly type: string;
  readonly content: unknown;
}

/** Messages of a graph's values; `[]` if the state has no message list. */
export function stateMessages(values: unknown): StateMessage[] {
  const messages = isObject(values) ? values['messages'] : undefined;
  return Array.isArray(messages) ? messages.filter(isMessage) : [];
}

/** AI messages after the last human message: the answers of one run. */
export function aiMessagesOfLastTurn(values: unknown): StateMessage[] {
  const messages = stateMessages(values);
  const lastHuman = messages.findLastIndex(({ type }) => type === 'human');
  return messages.slice(lastHuman + 1).filter(isAiMessage);
}

export function isMessage(value: unknown): value is StateMessage {
  return isObject(value) && typeof value['type'] === 'string' && 'content' in value;
}

/** True for a complete AI message and for a streamed chunk. */
export function isAiMessage({ type }: StateMessage): boolean {
  return type === 'ai' || type === 'AIMessageChunk';
}

/** Text of a message; skips other blocks, such as images and tool calls. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => (typeof block === 'string' ? block : textBlock(block))).join('');
}

function textBlock(block: unknown): string {
  return isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
    ? block['text']
    : '';
}
