import { isObject, toJson } from '../../core/json.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';

/**
 * JSON of a list of states, UTF-8. What they share, such as the messages of a conversation, is the same object in each
 * and printed once: a third of the CPU of printing the whole list. Nothing of a state is needed after it was printed.
 */
export async function statesJson(states: AsyncIterable<ThreadState>): Promise<Buffer> {
  const output = new JsonOutput();
  let separator = '[';
  for await (const state of states) {
    output.addText(separator);
    printObject(state, output, (value, field) => {
      if (field === 'values' && isObject(value))
        printObject(value, output, (channel) => printChannel(channel, output));
      else output.addText(toJson(value));
    });
    separator = ',';
  }
  output.addText(separator === '[' ? '[]' : ']');
  return output.bytes();
}

/** JSON in parts: text, and elements of lists that may be printed before. */
class JsonOutput {
  readonly #parts: Uint8Array[] = [];
  #text = '';
  /** UTF-8 of the element after a comma. */
  readonly #printed = new WeakMap<object, Uint8Array>();

  addText(text: string): void {
    this.#text += text;
  }

  addElement(element: object, isFirst: boolean): void {
    let bytes = this.#printed.get(element);
    if (!bytes) {
      bytes = Buffer.from(`,${toJson(element)}`);
      this.#printed.set(element, bytes);
    }
    this.#endText();
    this.#parts.push(isFirst ? bytes.subarray(1) : bytes);
  }

  bytes(): Buffer {
    this.#endText();
    return Buffer.concat(this.#parts);
  }

  #endText(): void {
    if (this.#text === '') return;
    this.#parts.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

function printObject(
  record: object,
  output: JsonOutput,
  printValue: (value: unknown, key: string) => void,
): void {
  let separator = '{';
  for (const [key, value] of Object.entries(record)) {
    if (WITHOUT_JSON.has(typeof value)) continue;
    output.addText(`${separator}${toJson(key)}:`);
    printValue(value, key);
    separator = ',';
  }
  output.addText(separator === '{' ? '{}' : '}');
}

/** Types of members that JSON leaves out. */
const WITHOUT_JSON: ReadonlySet<string> = new Set(['undefined', 'function', 'symbol']);

function printChannel(value: unknown, output: JsonOutput): void {
  if (Array.isArray(value) && value.length > 0 && value.every(isObject)) {
    output.addText('[');
    for (const [index, element] of value.entries()) output.addElement(element, index === 0);
    output.addText(']');
  } else output.addText(toJson(value));
}
