import { isObject, toJson } from '../../core/json.ts';
import { truncateText } from '../../core/text.ts';
import type { RunKwargs } from '../../schemas/runs.ts';
import type { StepContents } from '../../schemas/steps.ts';

/** Limit of the input, or the output, of a call, bytes of text. */
const MAX_BYTES = 16 * 1024;
/** Longer texts within messages are cut, bytes. */
const MAX_TEXT_BYTES = 4 * 1024;

/** A message by the conventions of OpenTelemetry (`gen_ai.input.messages`). */
interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
}

type Part = { readonly type: string } & Readonly<Record<string, unknown>>;

/** What a model is given: messages, or prompts of an older model. Each call of a handler has one conversation. */
export function inputOf(given: unknown): string {
  const messages = Array.isArray(given) ? given.flat() : [given];
  return messagesJson(messages);
}

/** The messages of a LangChain `LLMResult`. */
export function outputOf(result: unknown): string {
  const generations = isObject(result) && Array.isArray(result['generations']) ? result['generations'] : [];
  return messagesJson(
    generations.flat().map((generation) => {
      const { message, text } = isObject(generation) ? generation : {};
      return message ?? { role: 'assistant', content: text };
    }),
  );
}

/** What a tool is given, or returns: JSON text as it is. */
export function toolValueOf(value: unknown): string | undefined {
  const content = isObject(value) && 'content' in value ? value['content'] : value;
  if (content === undefined) return undefined;
  return truncateText(typeof content === 'string' ? content : toJson(content), MAX_BYTES);
}

/**
 * What a run is given, its input or what it answers to an interrupt, and the state that it leaves, as messages: of a
 * conversation only what is new, of any other value its JSON as a text.
 */
export function runContents(
  { input, command }: Pick<RunKwargs, 'input' | 'command'>,
  values: unknown,
): StepContents | undefined {
  const given = input ?? command?.resume ?? command?.update;
  return contentsOf(valueMessages('user', given), valueMessages('assistant', values));
}

function valueMessages(role: 'user' | 'assistant', value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const messages = isObject(value) ? value['messages'] : undefined;
  if (!Array.isArray(messages)) return messagesJson([{ role, content: toJson(value) }]);
  const asked = messages.findLastIndex((message) => isObject(message) && messageOf(message).role === 'user');
  return messagesJson(role === 'user' ? messages : messages.slice(asked + 1));
}

/** The contents of a step, if there are any. */
export function contentsOf(input: string | undefined, output: string | undefined): StepContents | undefined {
  if (input === undefined && output === undefined) return undefined;
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
}

/** The newest messages that fit; of a long conversation the others are not looked at. */
function messagesJson(given: readonly unknown[]): string {
  const newest: string[] = [];
  let bytes = 0;
  for (const each of given.toReversed()) {
    const message = messageOf(each);
    const json = toJson(message);
    bytes += Buffer.byteLength(json);
    if (newest.length > 0 && bytes > MAX_BYTES) break;
    newest.unshift(bytes > MAX_BYTES ? toJson({ role: message.role, parts: [NOTE] }) : json);
  }
  return `[${newest.join(',')}]`;
}

const NOTE = { type: 'text', content: `(more than ${MAX_BYTES / 1024} kB)` };

function messageOf(given: unknown): Message {
  if (!isObject(given)) return { role: 'user', parts: [textPart(String(given))] };
  const role = roleOf(given);
  const parts = partsOf(given['content']);
  if (role === 'tool')
    return { role, parts: [{ type: 'tool_call_response', id: given['tool_call_id'], response: parts }] };
  const calls = Array.isArray(given['tool_calls']) ? given['tool_calls'].filter(isObject) : [];
  return {
    role,
    parts: [
      ...parts,
      ...calls.map(({ id, name, args }) => ({ type: 'tool_call', id, name, arguments: args })),
    ],
  };
}

/** Roles by the types of LangChain's messages. */
const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' };

/** Role of a message: of LangChain, or plain. */
export function roleOf(message: Readonly<Record<string, unknown>>): string {
  const type = typeOf(message);
  return ROLES[type] ?? type;
}

function typeOf({ type, role, getType }: Readonly<Record<string, unknown>>): string {
  if (typeof role === 'string') return role;
  return typeof type === 'string' ? type : typeof getType === 'function' ? 'message' : 'user';
}

function partsOf(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  const blocks = Array.isArray(content) ? content : [];
  return blocks.map((block) => {
    const { type, text } = isObject(block) ? block : {};
    // Files and images are named, and not sent.
    return typeof text === 'string' ? textPart(text) : { type: String(type ?? 'unknown') };
  });
}

function textPart(text: string): Part {
  return { type: 'text', content: truncateText(text, MAX_TEXT_BYTES) };
}
