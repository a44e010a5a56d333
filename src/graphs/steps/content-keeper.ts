import { tryOrUndefined } from '../../core/failure.ts';
import { isObject, toJson } from '../../core/json.ts';
import { textDigest } from '../../core/text.ts';
import { cutMessages, type RecordedContents } from '../../schemas/step-contents.ts';
import { markOf } from './content-marks.ts';
import { roleOf } from './contents.ts';
import { cutJson, plainParameters } from './cut-json.ts';
import { failureJson } from './step-failure.ts';

/** Limit of the messages of one call, characters, and their number. */
const MAX_CALL = 1024 * 1024;
const MAX_MESSAGES = 2000;
/** Of a longer conversation, so many messages are kept from its beginning. */
const FIRST = 4;
/**
 * Limit of what waits to be taken, characters: beyond it, steps are recorded without contents. It is masked and encrypted
 * in one turn of the event loop.
 */
const MAX_WAITING = 2 * 1024 * 1024;
/** Messages with fewer characters of JSON are repeated: what stands for them would be hardly shorter. */
const MIN_REPEATED = 200;

/** A message that was kept before, as it was then. */
interface Known {
  readonly digest: string;
  readonly content: unknown;
  readonly tool_calls: unknown;
  /** Of its JSON. */
  readonly characters: number;
}

/**
 * Turns what the steps of an attempt were given and returned into what is kept of them. A text that several steps have is
 * handed over with the first of them only.
 */
export class ContentKeeper {
  /** Texts that no step has brought to storage yet, by digest, and how many steps wait with each. */
  readonly #waiting = new Map<string, { readonly text: string; holders: number }>();
  /** The lengths of those that one has brought. */
  readonly #brought = new Map<string, number>();
  readonly #known = new WeakMap<object, Known>();
  /** Of all that waits; of these, of the steps that have ended. */
  #characters = 0;
  #ended = 0;

  /** What a model is given: messages, or prompts of an older model. `undefined` if too much waits. */
  call(
    given: unknown,
    extra: Readonly<Record<string, unknown>>,
    metadata: Readonly<Record<string, unknown>>,
  ): RecordedContents | undefined {
    const settings = isObject(extra['invocation_params']) ? extra['invocation_params'] : {};
    const options = isObject(extra['options']) ? extra['options'] : {};
    const { tools = options['tools'], functions, ...others } = settings;
    const offered = tools ?? functions;
    const messages = this.#messages(Array.isArray(given) ? given.flat() : [given]);
    const definitions = Array.isArray(offered) && offered.length > 0 ? offered.map(toolOf) : undefined;
    const parameters = { ...standardParameters(metadata), ...plainParameters(others) };
    return this.#within({
      messages,
      ...(definitions && { tools: this.#shared(cutJson(definitions)) }),
      parameters: cutJson(parameters),
    });
  }

  /** The messages of a LangChain `LLMResult`. */
  answer(result: unknown): RecordedContents | undefined {
    const generations = isObject(result) && Array.isArray(result['generations']) ? result['generations'] : [];
    const messages = generations.flat().map((generation) => {
      const { message, text } = isObject(generation) ? generation : {};
      return message ?? { role: 'assistant', content: text };
    });
    return this.#within({ answer: this.#messages(messages) });
  }

  /** Arguments are often JSON that is a text. */
  input(value: unknown): RecordedContents | undefined {
    const parsed = typeof value === 'string' ? tryOrUndefined(() => JSON.parse(value)) : undefined;
    return this.#within({ input: cutJson(isObject(parsed) ? parsed : value) });
  }

  /** Of a tool's message, its content: as it is given to models afterwards, if it is long. */
  result(value: unknown): RecordedContents | undefined {
    if (!isObject(value) || !('content' in value)) return this.output(value);
    const { content } = value;
    if (typeof content !== 'string' || content.length < MIN_REPEATED) return this.output(content);
    return this.#within({ output: toJson(markOf(0)), repeats: [this.#message(value)] });
  }

  /** Refers to the messages that a model has answered or was given, instead of repeating what is in them. */
  output(value: unknown): RecordedContents | undefined {
    if (value === undefined) return {};
    const repeats: string[] = [];
    const output = cutJson(value, undefined, (message, longest) => {
      const known = this.#knownOf(message);
      if (!known || known.characters < MIN_REPEATED || known.characters > longest) return undefined;
      if (!repeats.includes(known.digest)) repeats.push(known.digest);
      return { mark: markOf(repeats.indexOf(known.digest)), characters: known.characters };
    });
    return this.#within({ output, ...(repeats.length > 0 && { repeats }) });
  }

  failure(thrown: unknown): RecordedContents | undefined {
    return this.#within({ failure: this.#shared(failureJson(thrown)) });
  }

  /** What is kept of a step that has ended, with the texts that none before it has brought. */
  end(parts: readonly RecordedContents[]): RecordedContents | undefined {
    if (parts.length === 0) return undefined;
    const texts: Record<string, string> = {};
    for (const digest of parts.flatMap((part) => [...digestsOf(part)])) {
      const text = this.#waiting.get(digest)?.text;
      if (text === undefined) continue;
      texts[digest] = text;
      this.#waiting.delete(digest);
      this.#brought.set(digest, text.length);
      this.#ended += text.length;
    }
    for (const part of parts) this.#ended += sizeOf(part);
    return Object.assign({ texts }, ...parts);
  }

  /** All that has ended was taken. */
  taken(): void {
    this.#characters -= this.#ended;
    this.#ended = 0;
  }

  /** Nothing is kept of the step. */
  drop(parts: readonly RecordedContents[]): void {
    for (const part of parts) {
      this.#characters -= sizeOf(part);
      for (const digest of digestsOf(part)) {
        const waiting = this.#waiting.get(digest);
        if (!waiting || --waiting.holders > 0) continue;
        this.#waiting.delete(digest);
        this.#characters -= waiting.text.length;
      }
    }
  }

  /** What a step was given could not be read to its end: the texts before that are of no step. */
  abandon(): void {
    for (const [digest, { text, holders }] of this.#waiting) {
      if (holders > 0) continue;
      this.#waiting.delete(digest);
      this.#characters -= text.length;
    }
  }

  #within(part: RecordedContents): RecordedContents | undefined {
    this.#characters += sizeOf(part);
    for (const digest of digestsOf(part)) {
      const waiting = this.#waiting.get(digest);
      if (waiting) waiting.holders += 1;
    }
    if (this.#characters <= MAX_WAITING) return part;
    this.drop([part]);
    return undefined;
  }

  /** Newest first, so that of a long conversation the end is kept, and the beginning, which has the instructions. */
  #messages(given: readonly unknown[]): string[] {
    const first = given.slice(0, FIRST).map((message) => this.#message(message));
    const newest: string[] = [];
    let characters = 0;
    for (const message of given.slice(FIRST).toReversed()) {
      if (characters > MAX_CALL || newest.length > MAX_MESSAGES) break;
      const digest = this.#message(message);
      characters += this.#waiting.get(digest)?.text.length ?? this.#brought.get(digest) ?? 0;
      newest.push(digest);
    }
    const cut = given.length - first.length - newest.length;
    return [...first, ...(cut > 0 ? [this.#shared(cutMessages(cut))] : []), ...newest.reverse()];
  }

  #message(message: unknown): string {
    const known = isObject(message) && this.#knownOf(message);
    if (known) return known.digest;
    const { content, tool_calls } = isObject(message) ? message : {};
    const text = cutJson(plainMessage(message));
    const digest = this.#shared(text);
    if (isObject(message)) this.#known.set(message, { digest, content, tool_calls, characters: text.length });
    return digest;
  }

  /** `undefined` if the message has changed since, or its text was dropped. */
  #knownOf(message: { content?: unknown; tool_calls?: unknown }): Known | undefined {
    const known = this.#known.get(message);
    const isSame = known && known.content === message.content && known.tool_calls === message.tool_calls;
    return isSame && (this.#brought.has(known.digest) || this.#waiting.has(known.digest)) ? known : undefined;
  }

  #shared(text: string): string {
    const digest = textDigest(text);
    if (!this.#brought.has(digest) && !this.#waiting.has(digest)) {
      this.#waiting.set(digest, { text, holders: 0 });
      this.#characters += text.length;
    }
    return digest;
  }
}

/** Each once. */
function digestsOf({
  messages = [],
  answer = [],
  repeats = [],
  tools,
  failure,
}: RecordedContents): Set<string> {
  const single = [tools, failure].filter((digest) => digest !== undefined);
  return new Set([...messages, ...answer, ...repeats, ...single]);
}

function sizeOf({ parameters, input, output }: RecordedContents): number {
  return (parameters?.length ?? 0) + (input?.length ?? 0) + (output?.length ?? 0);
}

/** A message as a model sees it: without ids, and without what the answer cost. */
function plainMessage(given: unknown): Record<string, unknown> {
  if (!isObject(given)) return { role: 'user', content: String(given) };
  const { content, name, tool_calls, tool_call_id, status, additional_kwargs } = given;
  const {
    tool_calls: _raw,
    function_call: _older,
    ...more
  } = isObject(additional_kwargs) ? additional_kwargs : {};
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isObject) : [];
  return {
    role: roleOf(given),
    content,
    ...(typeof name === 'string' && { name }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ id, name, args }) => ({ id, name, args })) }),
    ...(typeof tool_call_id === 'string' && { tool_call_id }),
    ...(status === 'error' && { status }),
    ...(Object.keys(more).length > 0 && { additional_kwargs: more }),
  };
}

/** A tool in the form of a provider as it is; of LangChain's tools what models see of them. */
function toolOf(tool: unknown): unknown {
  if (!isObject(tool) || typeof tool['invoke'] !== 'function') return tool;
  const { name, description, schema } = tool;
  const isJson =
    isObject(schema) && typeof schema['type'] === 'string' && typeof schema['parse'] !== 'function';
  return { name, description, ...(isJson && { parameters: schema }) };
}

/** LangChain's standard names: models of some providers have no others. */
function standardParameters(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const {
    ls_model_name: model,
    ls_temperature: temperature,
    ls_max_tokens: max_tokens,
    ls_stop: stop,
  } = metadata;
  return plainParameters({ model, temperature, max_tokens, stop });
}
