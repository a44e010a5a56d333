import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import {
  answersIn,
  isFromAi,
  isMessage,
  messagesIn,
  type StateMessage,
  textOf,
} from '../../services/messages.ts';
import { oneLine, printable } from './printable.ts';

/** A message that is being said. */
interface Speech {
  /** The task that says it, and the node of the graph that the task is of. */
  readonly task: string;
  readonly node: string;
  text: string;
  isWhole: boolean;
}

/**
 * Prints what the runs of a conversation say while they say it: the text on the standard output, everything around it
 * beside that. Of messages that are said at the same time, the first is printed as it comes, the others behind it.
 */
export class AnswerPrinter {
  /** What is said now, by the id of its message, or by its task; the first is the one that is heard. */
  readonly #speeches = new Map<string, Speech>();
  /** How much of the first one is printed. */
  #heard = 0;
  readonly #said = new Set<string>();
  readonly #calls = new Set<string>();
  /** They wait for the end of the message that is heard. */
  #asides: string[] = [];
  #unnamed = 0;
  #hasSpoken = false;
  /** The last character was a line break, or nothing was printed yet. */
  #isAtStart = true;

  /** Whether anything was said since the last `end`. */
  get hasSpoken(): boolean {
    return this.#hasSpoken || this.#speeches.size > 0;
  }

  /** A piece of a message, or a whole one, from stream mode `messages-tuple`. */
  message(data: unknown): void {
    const [message, about] = Array.isArray(data) ? data : [];
    if (!isMessage(message) || !isFromAi(message)) return;
    const text = textOf(message.content);
    const place = placeOf(about);
    const id = idOf(message);
    const key = id ?? place.task;
    if (message.type === 'ai') this.#whole(key, id, text, place);
    else if (text !== '') this.#piece(key, text, place);
    const speech = this.#speeches.get(key);
    if (speech && isLastPiece(message)) speech.isWhole = true;
    this.#hear();
  }

  /** What nodes did, from stream mode `updates`: who has ended, and the tools that a model calls. */
  updates(data: unknown): void {
    for (const [node, update] of isObject(data) ? Object.entries(data) : []) {
      const messages = [update].flat().flatMap(messagesOf);
      this.#ended(node, messages.map(idOf));
      for (const message of messages) this.#tools(message);
    }
    this.#hear();
  }

  /** The answers of a graph that said none, as its state has them; `before` is the state it began with. */
  answers(values: unknown, before: unknown): void {
    const known = new Set(messagesIn(typed(before)).map(toJson));
    for (const message of answersIn(typed(values))) {
      const id = idOf(message);
      if (known.has(toJson(message)) || (id !== undefined && this.#said.has(id))) continue;
      this.#whole(id ?? '', id, textOf(message.content), placeOf(undefined));
      this.#hear();
    }
  }

  /** The output of a graph that said nothing: its only text, or all of it. */
  values({ messages: _, ...rest }: JsonObject): void {
    if (Object.keys(rest).length === 0) return;
    const texts = Object.values(rest).filter((value) => typeof value === 'string' && value !== '');
    this.#print(texts.length === 1 ? String(texts[0]) : JSON.stringify(rest, null, 2));
  }

  /** No more comes of this run. */
  end(): void {
    for (const speech of this.#speeches.values()) speech.isWhole = true;
    this.#hear();
    this.#newLine();
    this.#hasSpoken = false;
  }

  #piece(key: string, text: string, place: Place): void {
    const speech = this.#speeches.get(key);
    if (speech) speech.text += text;
    else this.#speeches.set(key, { ...place, text, isWhole: false });
  }

  /** A whole message; behind its pieces it comes once more. */
  #whole(key: string, id: string | undefined, text: string, place: Place): void {
    const speech = this.#speeches.get(key);
    if (speech && !speech.isWhole) {
      speech.isWhole = true;
      if (text.startsWith(speech.text)) speech.text = text;
      if (id !== undefined || text === speech.text) return;
    }
    if (text === '' || (id !== undefined && (speech || this.#said.has(id)))) return;
    // Messages without an id: a task may say several.
    this.#speeches.set(speech ? `${key} ${this.#unnamed++}` : key, { ...place, text, isWhole: true });
  }

  /** Of a node with several tasks only the messages tell which of them has ended. */
  #ended(node: string, ids: readonly (string | undefined)[]): void {
    const speeches = [...this.#speeches].filter(([, speech]) => speech.node === node);
    const tasks = new Set(speeches.map(([, { task }]) => task));
    for (const [key, speech] of speeches) if (tasks.size === 1 || ids.includes(key)) speech.isWhole = true;
  }

  #tools(message: JsonObject): void {
    const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'] : [];
    for (const { id, name, args } of calls.filter(isObject)) {
      const line = `· ${name} ${toJson(args)}`;
      const key = typeof id === 'string' && id !== '' ? id : line;
      if (this.#calls.has(key)) continue;
      this.#calls.add(key);
      this.#asides.push(line);
    }
  }

  /** Prints all that may be printed by now. */
  #hear(): void {
    for (const [key, { text, isWhole }] of this.#speeches) {
      if (this.#heard === 0) this.#newLine();
      this.#print(text.slice(this.#heard));
      this.#heard = text.length;
      if (!isWhole) return;
      this.#said.add(key);
      this.#speeches.delete(key);
      this.#heard = 0;
      this.#tellAsides();
    }
    this.#tellAsides();
  }

  #tellAsides(): void {
    if (this.#asides.length > 0) this.#newLine();
    for (const line of this.#asides) aside(line);
    this.#asides = [];
  }

  #print(text: string): void {
    if (text === '') return;
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

/** Something that went wrong, in the words of somebody else. */
export function complaint(text: string): void {
  aside(oneLine(text));
}

type Place = Pick<Speech, 'task' | 'node'>;

/** Who says a message, by what stream mode `messages-tuple` tells about it: `node:id|inner:id`. */
function placeOf(about: unknown): Place {
  const { langgraph_checkpoint_ns: task, langgraph_node: node } = isObject(about) ? about : {};
  const name = typeof task === 'string' && task !== '' ? task : String(node ?? '');
  return { task: name, node: name.split(/[:|]/, 1)[0] as string };
}

function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function isLastPiece({ chunk_position, response_metadata }: StateMessage): boolean {
  const reason = isObject(response_metadata) ? response_metadata['finish_reason'] : undefined;
  return chunk_position === 'last' || (typeof reason === 'string' && reason !== '');
}

/** One message, or a list of them. */
function messagesOf(update: unknown): JsonObject[] {
  return isObject(update) ? [update['messages']].flat().filter(isObject) : [];
}

/** The values with messages as a state without a reducer keeps them: `{role, content}`. */
function typed(values: unknown): JsonObject {
  const types: JsonObject = { assistant: 'ai', user: 'human' };
  const messages = messagesOf(values).map((message) => ({
    ...message,
    type: message['type'] ?? types[String(message['role'])],
  }));
  return { messages };
}
