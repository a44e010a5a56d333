import { yieldToEventLoop } from './event-loop.ts';
import { isObject, toJson } from './json.ts';

/** Levels of an object that are printed one member at a time, as of `{"result": {"tasks": [task, …]}}`. */
const LEVELS = 3;
/** Characters after which the event loop may get a turn. */
const CHUNK = 64 * 1024;

/**
 * True for a list, and for an object that has one: both may be larger than what can be printed in one turn of the event
 * loop.
 */
export function hasList(value: unknown): boolean {
  return isLong(value) || (isObject(value) && Object.values(value).some(isLong));
}

/** The text of `toJson`, in UTF-8 if it is long. The event loop gets its turns between members of lists. */
export async function toJsonInSlices(value: unknown): Promise<string | Buffer> {
  const chunks: Buffer[] = [];
  let text = '';
  for (const part of textsOf(value, isLong(value) ? 1 : LEVELS)) {
    text += part;
    if (text.length < CHUNK) continue;
    chunks.push(Buffer.from(text));
    text = '';
    await yieldToEventLoop();
  }
  return chunks.length === 0 ? text : Buffer.concat([...chunks, Buffer.from(text)]);
}

function isLong(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 1;
}

/** Parts of the text. Objects with a form of their own, such as dates, are printed whole. */
function* textsOf(value: unknown, levels: number): Generator<string> {
  if (levels > 0 && isLong(value)) {
    for (const [n, member] of value.entries()) {
      yield n === 0 ? '[' : ',';
      yield* textsOf(member, levels - 1);
    }
    yield ']';
  } else if (levels > 1 && isObject(value) && !('toJSON' in value)) {
    let before = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${toJson(name)}:`;
      before = ',';
      yield* textsOf(member, levels - 1);
    }
    yield before === '{' ? '{}' : '}';
  } else yield toJson(value);
}
