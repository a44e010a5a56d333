import { readFile } from 'node:fs/promises';
import { withDeadline } from '../../src/core/timers.ts';
import { searchOf } from '../../src/hosts/protocol/first-search.ts';
import type { Params, ServerMethods } from '../../src/hosts/protocol/messages.ts';
import { runEventsOf } from '../../src/hosts/protocol/run-events.ts';
import type { HostProcess, Message } from './host-process.ts';
import { MemoryCheckpoints } from './memory-checkpoints.ts';
import { mismatch } from './message-patterns.ts';

/**
 * A step of a recorded conversation: a message of the server, or patterns of what the host says next. Messages of one
 * method come in the order of their patterns; of those of different methods none need be first. Events of runs have a
 * pattern each, however they come together. Messages of the log, and of the methods in `besides`, may come without one.
 */
type Step =
  | { readonly server: Message }
  | { readonly host: readonly Pattern[]; readonly besides?: readonly string[] };
type Pattern = Readonly<Record<string, unknown>>;

/** How long a host may be silent, ms. */
const SILENCE_MS = 30_000;

/** Reads a conversation; `${name}` in its texts becomes the value of that name, and `{"$text": value}` its JSON. */
export async function readConversation(file: URL, values: Readonly<Record<string, string>>): Promise<Step[]> {
  const text = await readFile(file, 'utf8');
  const { steps } = JSON.parse(text, (_key, value) => {
    if (typeof value === 'string')
      return value.replaceAll(/\$\{(\w+)\}/g, (_all, name) => values[name] ?? '');
    return value?.$text === undefined ? value : JSON.stringify(value.$text);
  });
  return steps;
}

/** Plays the server's part. Throws at the first message of the host that is not as recorded. */
export async function play(host: HostProcess, steps: readonly Step[]): Promise<void> {
  const server = new RecordedServer(host);
  let unsent: Message[] = [];
  for (const step of steps) {
    if ('server' in step) unsent.push(step.server);
    else {
      server.say(unsent);
      unsent = [];
      await server.expect(step.host, ['log', ...(step.besides ?? [])]);
    }
  }
  server.say(unsent);
}

/** A server with no more than what hosts ask for: checkpoints, and a store. */
class RecordedServer {
  readonly #host: HostProcess;
  readonly #checkpoints = new MemoryCheckpoints();
  readonly #items = new Map<string, unknown>();
  readonly #known = new Map<string, unknown>();

  constructor(host: HostProcess) {
    this.#host = host;
  }

  /** `{"$latest": thread_id}` stands for the search for the latest checkpoint of a thread. */
  say(messages: readonly Message[]): void {
    if (messages.length > 0) this.#host.send(...messages.map((message) => this.#complete(message)));
  }

  #complete(message: Message): Message {
    const { first, ...params } = (message.params ?? {}) as { first?: { $latest: string } };
    if (!first) return message;
    const query = { thread_id: first.$latest, ns: '', limit: 1 };
    const found = { search: searchOf(query), page: this.#checkpoints.find(query) };
    return { ...message, params: { ...params, first: found } };
  }

  async expect(patterns: readonly Pattern[], besides: readonly string[]): Promise<void> {
    const left = [...patterns];
    while (left.length > 0) {
      const { value, done } = await withDeadline(SILENCE_MS, this.#host.messages.next()).catch(() => {
        throw new Error(`The host is silent instead of saying ${JSON.stringify(left[0])}`);
      });
      if (done) throw new Error(`The host has ended instead of saying ${JSON.stringify(left[0])}`);
      this.#answer(value);
      for (const part of partsOf(value)) {
        const difference = this.#take(part, left);
        if (difference !== undefined && !besides.includes(kindOf(part)))
          throw new Error(`${difference}, in ${JSON.stringify(part)}`);
      }
    }
  }

  /** Removes the pattern that a message matches. Returns why none does. */
  #take(said: Pattern, left: Pattern[]): string | undefined {
    const index = left.findIndex((pattern) => kindOf(pattern) === kindOf(said));
    if (index < 0) return 'nobody expects it';
    const difference = mismatch(left[index], said, this.#known);
    if (difference === undefined) left.splice(index, 1);
    return difference;
  }

  /** Answers a request. Notifications may be those of checkpoints too. */
  #answer({ id, method = '', params }: Message): void {
    const answer = this.#handle(method, params);
    if (id !== undefined && method !== '') this.#host.send({ id, result: answer });
  }

  #handle(method: string, params: unknown): unknown {
    type Of<Name extends keyof ServerMethods> = Params<ServerMethods, Name>;
    switch (method) {
      case 'checkpoint/put':
        this.#checkpoints.put((params as Of<'checkpoint/put'>).checkpoint);
        return { stored: true };
      case 'checkpoint/put_writes':
        this.#checkpoints.putWrites(params as Of<'checkpoint/put_writes'>);
        return { stored: true };
      case 'checkpoint/find':
        return this.#checkpoints.find(params as Of<'checkpoint/find'>);
      case 'store/apply':
        for (const { namespace, key, value } of JSON.parse((params as Of<'store/apply'>).changes))
          this.#items.set(JSON.stringify([namespace, key]), itemOf(namespace, key, value));
        return {};
      case 'store/get': {
        const { namespace, key } = params as Of<'store/get'>;
        return { json: JSON.stringify(this.#items.get(JSON.stringify([namespace, key])) ?? null) };
      }
      default:
        return {};
    }
  }
}

function itemOf(namespace: string[], key: string, value: unknown) {
  const at = '2026-01-01T00:00:00.000Z';
  return { namespace, key, value, created_at: at, updated_at: at };
}

/** Events of runs one by one; anything else as it is. */
function partsOf(message: Message): Pattern[] {
  if (message.method !== 'run/events') return [message as Pattern];
  const { session, events } = message.params as Params<ServerMethods, 'run/events'>;
  return [...runEventsOf(events)].map((event) => ({ method: 'run/events', session, ...event }));
}

/** Method of a request or notification, or the request that a response answers. */
function kindOf({ method, id }: Pattern): string {
  return method === undefined ? `response ${String(id)}` : String(method);
}
