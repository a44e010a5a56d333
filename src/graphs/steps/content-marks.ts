import { isObject } from '../../core/json.ts';

/** Begins the text that stands for the content of a message, as no text of a graph does. */
const MARK = '\u0001content ';

/** Stands for the content of the message at this place of `repeats`. */
export function markOf(place: number): string {
  return `${MARK}${place}`;
}

/** The value with the contents of these messages where their marks are. */
export function withContents(value: unknown, messages: readonly unknown[]): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? contentAt(messages, value) : value;
  if (Array.isArray(value)) return value.map((item) => withContents(item, messages));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withContents(member, messages)]),
  );
}

function contentAt(messages: readonly unknown[], mark: string): unknown {
  const message = messages[Number(mark.slice(MARK.length))];
  return isObject(message) ? message['content'] : (message ?? null);
}
