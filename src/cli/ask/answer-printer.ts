import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import {
  aiMessagesOfLastTurn,
  isAiMessage,
  isMessage,
  type StateMessage,
  stateMessages,
  textOf,
} from '../../services/chat/messages.ts';
import { oneLine, sanitizeForTerminal } from './sanitize.ts';

/** A message that is being said. */
interface OpenMessage {
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
  readonly #messages = new Map<string, OpenMessage>();
  /** How much of the first one is printed. */
  #printed = 0;
  readonly #done = new Set<string>();
  readonly #calls = new Set<string>();
  /** They wait for the end of the message that is heard. */
  #notes: string[] = [];
  #unnamed = 0;
  #hasPrinted = false;
  /** The last character was a line break, or nothing was printed yet. */
  #isAtStart = true;

  /** Whether anything was said since the last `end`. */
  get hasPrinted(): boolean {
    return this.#hasPrinted || this.#messages.size > 0;
  }

  /** A piece of a message, or a whole one, from stream mode `messages-tuple`. */
  message(data: unknown): void {
    const [message, about] = Array.isArray(data) ? data : [];
    if (!isMessage(message) || !isAiMessage(message)) return;
    const text = textOf(message.content);
    const place = placeOf(about);
    const id = idOf(message);
    const key = id ?? place.task;
    if (message.type === 'ai') this.#addMessage(key, id, text, place);
    else if (text !== '') this.#addChunk(key, text, place);
    const speech = this.#messages.get(key);
    if (speech && isLastChunk(message)) speech.isWhole = true;
    this.#flush();
  }

  /** What nodes did, from stream mode `updates`: who has ended, and the tools that a model calls. */
  updates(data: unknown): void {
    for (const [node, update] of isObject(data) ? Object.entries(data) : []) {
      const messages = [update].flat().flatMap(messagesOf);
      this.#nodeEnded(node, messages.map(idOf));
      for (const message of messages) this.#tools(message);
    }
    this.#flush();
  }

  /** The answers of a graph that said none, as its state has them; `before` is the state it began with. */
  answers(values: unknown, before: unknown): void {
    const known = new Set(stateMessages(typed(before)).map(toJson));
    for (const message of aiMessagesOfLastTurn(typed(values))) {
      const id = idOf(message);
      if (known.has(toJson(message)) || (id !== undefined && this.#done.has(id))) continue;
      this.#addMessage(id ?? '', id, textOf(message.content), placeOf(undefined));
      this.#flush();
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
    for (const speech of this.#messages.values()) speech.isWhole = true;
    this.#flush();
    this.#newLine();
    this.#hasPrinted = false;
  }

  #addChunk(key: string, text: string, place: Source): void {
    const speech = this.#messages.get(key);
    if (speech) speech.text += text;
    else this.#messages.set(key, { ...place, text, isWhole: false });
  }

  /** A whole message; behind its pieces it comes once more. */
  #addMessage(key: string, id: string | undefined, text: string, place: Source): void {
    const speech = this.#messages.get(key);
    if (speech && !speech.isWhole) {
      speech.isWhole = true;
      if (text.startsWith(speech.text)) speech.text = text;
      if (id !== undefined || text === speech.text) return;
    }
    if (text === '' || (id !== undefined && (speech || this.#done.has(id)))) return;
    // Messages without an id: a task may say several.
    this.#messages.set(speech ? `${key} ${this.#unnamed++}` : key, { ...place, text, isWhole: true });
  }

  /** Of a node with several tasks only the messages tell which of them has ended. */
  #nodeEnded(node: string, ids: readonly (string | undefined)[]): void {
    const speeches = [...this.#messages].filter(([, speech]) => speech.node === node);
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
      this.#notes.push(line);
    }
  }

  /** Prints all that may be printed by now. */
  #flush(): void {
    for (const [key, { text, isWhole }] of this.#messages) {
      if (this.#printed === 0) this.#newLine();
      this.#print(text.slice(this.#printed));
      this.#printed = text.length;
      if (!isWhole) return;
      this.#done.add(key);
      this.#messages.delete(key);
      this.#printed = 0;
      this.#printNotes();
    }
    this.#printNotes();
  }

  #printNotes(): void {
    if (this.#notes.length > 0) this.#newLine();
    for (const line of this.#notes) printNote(line);
    this.#notes = [];
  }

  #print(text: string): void {
    if (text === '') return;
    process.stdout.write(sanitizeForTerminal(text));
    this.#hasPrinted = true;
    this.#isAtStart = text.endsWith('\n');
  }

  #newLine(): void {
    if (!this.#isAtStart) process.stdout.write('\n');
    this.#isAtStart = true;
  }
}

/** A line that is no part of the answer. */
export function printNote(text: string): void {
  const line = sanitizeForTerminal(text).replaceAll('\n', ' ');
  process.stderr.write(process.stderr.hasColors?.() ? `\u001b[2m${line}\u001b[0m\n` : `${line}\n`);
}

/** Something that went wrong, in the words of somebody else. */
export function printWarning(text: string): void {
  printNote(oneLine(text));
}

type Source = Pick<OpenMessage, 'task' | 'node'>;

/** Who says a message, by what stream mode `messages-tuple` tells about it: `node:id|inner:id`. */
function placeOf(about: unknown): Source {
  const { langgraph_checkpoint_ns: task, langgraph_node: node } = isObject(about) ? about : {};
  const name = typeof task === 'string' && task !== '' ? task : String(node ?? '');
  return { task: name, node: name.split(/[:|]/, 1)[0] as string };
}

function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function isLastChunk({ chunk_position, response_metadata }: StateMessage): boolean {
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
