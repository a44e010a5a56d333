import { isObject, type JsonObject } from '../../core/json.ts';

/** A chat message as a graph's state holds it once it is JSON; `content` is text or a list of blocks. */
export interface StateMessage extends JsonObject {
  readonly type: string;
  readonly content: unknown;
}

/** The messages of a graph's values; none where the state has no such list. */
export function stateMessages(values: unknown): StateMessage[] {
  const messages = isObject(values) ? values['messages'] : undefined;
  return Array.isArray(messages) ? messages.filter(isMessage) : [];
}

/** What was said after the last message of a person: the answers of one run. */
export function aiMessagesOfLastTurn(values: unknown): StateMessage[] {
  const messages = stateMessages(values);
  const lastHuman = messages.findLastIndex(({ type }) => type === 'human');
  return messages.slice(lastHuman + 1).filter(isAiMessage);
}

export function isMessage(value: unknown): value is StateMessage {
  return isObject(value) && typeof value['type'] === 'string' && 'content' in value;
}

/** A whole message, or a piece of one that is still being written. */
export function isAiMessage({ type }: StateMessage): boolean {
  return type === 'ai' || type === 'AIMessageChunk';
}

/** The text of a message; blocks that are no text, such as images and tool calls, are left out. */
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
