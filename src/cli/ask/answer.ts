import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import { isFromAi, isMessage, textOf } from '../../services/messages.ts';
import { printable } from './printable.ts';

/** Prints what a run says while it says it: the text on the standard output, everything around it beside that. */
export class AnswerPrinter {
  #message: unknown;
  #hasSpoken = false;
  /** The last character was a line break, or nothing was printed yet. */
  #isAtStart = true;
  readonly #calls = new Set<unknown>();

  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** A piece of a message, or a whole one, from stream mode `messages-tuple`. */
  message(data: unknown): void {
    const [message] = Array.isArray(data) ? data : [];
    if (!isMessage(message) || !isFromAi(message)) return;
    const text = textOf(message.content);
    if (text === '') return;
    // The whole message comes once more behind its pieces.
    if (message['id'] === this.#message && message.type === 'ai') return;
    if (message['id'] !== this.#message) this.#newLine();
    this.#message = message['id'];
    this.#print(text);
  }

  /** What nodes did, from stream mode `updates`: the tools that a model calls. */
  updates(data: unknown): void {
    for (const update of isObject(data) ? Object.values(data) : []) {
      const messages = isObject(update) && Array.isArray(update['messages']) ? update['messages'] : [];
      for (const message of messages) this.#tools(message);
    }
  }

  /** The output of a graph that said nothing: its only text, or all of it. */
  values({ messages: _, ...rest }: JsonObject): void {
    const texts = Object.values(rest).filter((value) => typeof value === 'string' && value !== '');
    this.#print(texts.length === 1 ? String(texts[0]) : JSON.stringify(rest, null, 2));
  }

  end(): void {
    this.#newLine();
  }

  #tools(message: unknown): void {
    const calls = isObject(message) && Array.isArray(message['tool_calls']) ? message['tool_calls'] : [];
    for (const call of calls.filter(isObject)) {
      if (this.#calls.has(call['id'])) continue;
      this.#calls.add(call['id']);
      this.#newLine();
      aside(`· ${call['name']} ${toJson(call['args'])}`);
    }
  }

  #print(text: string): void {
    process.stdout.write(printable(text));
    this.#hasSpoken = true;
    this.#isAtStart = text.endsWith('\n');
  }

  #newLine(): void {
    if (!this.#isAtStart) process.stdout.write('\n');
    this.#isAtStart = true;
  }
}

/** A line that is no part of the answer. */
export function aside(text: string): void {
  const line = printable(text).replaceAll('\n', ' ');
  process.stderr.write(process.stderr.hasColors?.() ? `\u001b[2m${line}\u001b[0m\n` : `${line}\n`);
}
