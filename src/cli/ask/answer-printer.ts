import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import {
  aiMessagesOfLastTurn,
  isAiMessage,
  isMessage,
  type StateMessage,
  stateMessages,
  textOf,
} from '../../services/conversation/messages.ts';
import { oneLine, sanitizeForTerminal } from './sanitize.ts';

/** A message that is still streaming. */
interface OpenMessage {
  /** The task that writes it, and that task's node. */
  readonly task: string;
  readonly node: string;
  text: string;
  isWhole: boolean;
}

/**
 * Prints the messages of a conversation's runs as they stream: text on stdout, everything else on stderr. Of concurrent
 * messages, the first is streamed and the others are buffered.
 */
export class AnswerPrinter {
  /** Streaming messages by message id, or by task; the first is the one being printed. */
  readonly #messages = new Map<string, OpenMessage>();
  /** Characters of the first message already printed. */
  #printed = 0;
  readonly #done = new Set<string>();
  readonly #calls = new Set<string>();
  /** Buffered until the message being printed ends. */
  #notes: string[] = [];
  #unnamed = 0;
  #hasPrinted = false;
  /** The cursor is at the start of a line. */
  #isAtStart = true;

  /** Whether the run has produced any message since the last `end`. */
  get hasPrinted(): boolean {
    return this.#hasPrinted || this.#messages.size > 0;
  }

  /** Handles a message chunk, or a whole message, from stream mode `messages-tuple`. */
  message(data: unknown): void {
    const [message, about] = Array.isArray(data) ? data : [];
    if (!isMessage(message) || !isAiMessage(message)) return;
    const text = textOf(message.content);
    const place = placeOf(about);
    const id = idOf(message);
    const key = id ?? place.task;
    if (message.type === 'ai') this.#addMessage(key, id, text, place);
    else if (text !== '') this.#addChunk(key, text, place);
    const openMessage = this.#messages.get(key);
    if (openMessage && isLastChunk(message)) openMessage.isWhole = true;
    this.#flush();
  }

  /** Handles stream mode `updates`: finished nodes, and tool calls. */
  updates(data: unknown): void {
    for (const [node, update] of isObject(data) ? Object.entries(data) : []) {
      const messages = [update].flat().flatMap(messagesOf);
      this.#nodeEnded(node, messages.map(idOf));
      for (const message of messages) this.#tools(message);
    }
    this.#flush();
  }

  /** Prints the answers of a graph that streamed none, from its state; `before` is its initial state. */
  answers(values: unknown, before: unknown): void {
    const known = new Set(stateMessages(typed(before)).map(toJson));
    for (const message of aiMessagesOfLastTurn(typed(values))) {
      const id = idOf(message);
      if (known.has(toJson(message)) || (id !== undefined && this.#done.has(id))) continue;
      this.#addMessage(id ?? '', id, textOf(message.content), placeOf(undefined));
      this.#flush();
    }
  }

  /** Prints the output of a graph without messages: its only text, or all values as JSON. */
  values({ messages: _, ...rest }: JsonObject): void {
    if (Object.keys(rest).length === 0) return;
    const texts = Object.values(rest).filter((value) => typeof value === 'string' && value !== '');
    this.#print(texts.length === 1 ? String(texts[0]) : JSON.stringify(rest, null, 2));
  }

  /** Ends the run: flushes what is buffered. */
  end(): void {
    for (const openMessage of this.#messages.values()) openMessage.isWhole = true;
    this.#flush();
    this.#newLine();
    this.#hasPrinted = false;
  }

  #addChunk(key: string, text: string, place: Source): void {
    const openMessage = this.#messages.get(key);
    if (openMessage) openMessage.text += text;
    else this.#messages.set(key, { ...place, text, isWhole: false });
  }

  /** Adds a whole message; after its chunks, the same message arrives once more. */
  #addMessage(key: string, id: string | undefined, text: string, place: Source): void {
    const openMessage = this.#messages.get(key);
    if (openMessage && !openMessage.isWhole) {
      openMessage.isWhole = true;
      if (text.startsWith(openMessage.text)) openMessage.text = text;
      if (id !== undefined || text === openMessage.text) return;
    }
    if (text === '' || (id !== undefined && (openMessage || this.#done.has(id)))) return;
    // Messages without an id: one task may write several.
    this.#messages.set(openMessage ? `${key} ${this.#unnamed++}` : key, { ...place, text, isWhole: true });
  }

  /** Of a node with parallel tasks, only message ids identify the task that has finished. */
  #nodeEnded(node: string, ids: readonly (string | undefined)[]): void {
    const openMessages = [...this.#messages].filter(([, openMessage]) => openMessage.node === node);
    const tasks = new Set(openMessages.map(([, { task }]) => task));
    for (const [key, openMessage] of openMessages)
      if (tasks.size === 1 || ids.includes(key)) openMessage.isWhole = true;
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

  /** Prints whatever is no longer blocked by an earlier message. */
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

/** Prints a line that is not part of the answer, on stderr. */
export function printNote(text: string): void {
  const line = sanitizeForTerminal(text).replaceAll('\n', ' ');
  process.stderr.write(process.stderr.hasColors?.() ? `\u001b[2m${line}\u001b[0m\n` : `${line}\n`);
}

/** Prints an error text from the server or the graph, sanitized. */
export function printWarning(text: string): void {
  printNote(oneLine(text));
}

type Source = Pick<OpenMessage, 'task' | 'node'>;

/** Task and node of a message, from its `messages-tuple` metadata: `node:id|inner:id`. */
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

/** Adds `type` to messages that a state without a reducer stores as `{role, content}`. */
function typed(values: unknown): JsonObject {
  const types: JsonObject = { assistant: 'ai', user: 'human' };
  const messages = messagesOf(values).map((message) => ({
    ...message,
    type: message['type'] ?? types[String(message['role'])],
  }));
  return { messages };
}
