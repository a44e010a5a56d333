import { isObject, storable } from '../../core/json.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';

/**
 * JSON of a list of states, UTF-8. What they share, such as the messages of a conversation, is the same object in each
 * and printed once. Nothing of a state is needed after it was printed.
 */
export async function statesJson(states: AsyncIterable<ThreadState>): Promise<Buffer> {
  const printed = new WeakMap<object, string>();
  const texts: string[] = [];
  for await (const state of states) {
    const text = objectText(state, (value, field) =>
      field === 'values' && isObject(value)
        ? objectText(value, (channel) => channelText(channel, printed))
        : jsonText(value),
    );
    texts.push(text);
  }
  return Buffer.from(`[${texts.join(',')}]`);
}

function objectText(record: object, textOf: (value: unknown, key: string) => string | undefined): string {
  const members: string[] = [];
  for (const [key, value] of Object.entries(record)) {
    const text = textOf(value, key);
    if (text !== undefined) members.push(`${jsonText(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

function channelText(value: unknown, printed: WeakMap<object, string>): string | undefined {
  if (!Array.isArray(value) || !value.every(isObject)) return jsonText(value);
  const items = value.map((item) => {
    const text = printed.get(item) ?? jsonText(item) ?? 'null';
    printed.set(item, text);
    return text;
  });
  return `[${items.join(',')}]`;
}

/** `undefined` for what has no JSON form. */
function jsonText(value: unknown): string | undefined {
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined : storable(text);
}
