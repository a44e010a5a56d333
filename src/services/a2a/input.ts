import type { Message, Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { RunCreate } from '../../schemas/runs.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { textAnswer } from '../human-review.ts';
import { namesOf, textField } from '../input-fields.ts';
import type { AssistantFacts } from './assistant-facts.ts';
import { blockOf, isTaken, mediaTypeOf } from './parts.ts';

/** Throws when the assistant does not take a part of the message. */
export function checkMediaTypes({ parts }: Message, { input_modes }: AssistantFacts): void {
  if (!input_modes) return;
  const refused = parts.map(mediaTypeOf).find((type) => !isTaken(type, input_modes));
  if (refused === undefined) return;
  throw new ContentTypeNotSupportedError(
    `Content of type ${refused} is not supported. Supported: ${input_modes.join(', ')}`,
  );
}

/**
 * The graph's input: texts and files are one user message, objects are merged into it. A graph without messages takes
 * a text where it has one field for it. Throws `RequestMalformedError` with the names of its fields where it has none.
 */
export function inputOf(message: Message, facts: AssistantFacts): JsonObject {
  const values = message.parts.filter(isInput).map(({ content }) => content?.value as JsonObject);
  const said = message.parts.filter((part) => !isInput(part));
  const input: JsonObject = Object.assign({}, ...values);
  if (said.length === 0) return input;
  if (!facts.has_messages) return { ...input, ...asField(said, facts) };
  const given = Array.isArray(input['messages']) ? input['messages'] : [];
  const content = contentOf(said);
  return { ...input, messages: [...given, { role: 'user', content, id: message.messageId }] };
}

/** What waits is answered by this; the forms are tried in the order in which they are described in docs/a2a.md. */
export function answerOf({ parts }: Message, interrupts: readonly Interrupt[]): unknown {
  const data = parts.flatMap(({ content }) =>
    content?.$case === 'data' && isObject(content.value) ? [content.value] : [],
  );
  const ids = interrupts.map(({ id }) => id);
  const [first] = data;
  if (first === undefined) return textAnswer(onlyOne(interrupts)?.value, textOfParts(parts));
  const { resume, ...others } = first;
  if (resume !== undefined && Object.keys(others).length === 0) {
    return answersById(resume, ids) ?? resume;
  }
  return first;
}

/** What the client adds to the run: metadata, and in it configuration and context. */
export function runOptionsOf({ metadata = {} }: Pick<Message, 'metadata'>): Partial<RunCreate> {
  const { configurable, context, ...rest } = metadata;
  return {
    metadata: rest,
    ...(isObject(configurable) ? { config: { configurable } } : {}),
    ...(isObject(context) ? { context } : {}),
  };
}

function onlyOne<T>(of: readonly T[]): T | undefined {
  return of.length === 1 ? of[0] : undefined;
}

function isInput({ content, metadata }: Part): boolean {
  return content?.$case === 'data' && isObject(content.value) && metadata?.['target'] !== 'message';
}

function contentOf(parts: readonly Part[]): unknown {
  const [first] = parts;
  if (parts.length === 1 && first?.content?.$case === 'text') return first.content.value;
  return parts.map(blockOf).filter((block) => block !== undefined);
}

function asField(parts: readonly Part[], { fields }: AssistantFacts): JsonObject {
  const field = textField(fields);
  const isText = parts.every(({ content }) => content?.$case === 'text');
  if (field !== undefined && isText) return { [field]: textOfParts(parts) };
  throw new RequestMalformedError(
    `This agent takes no messages. Send a data part with an object that has its fields: ${namesOf(fields)}`,
  );
}

function textOfParts(parts: readonly Part[]): string {
  return parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
}

/** `[{id, value}, …]`, where each is an interrupt that waits. */
function answersById(resume: unknown, ids: readonly unknown[]): JsonObject | undefined {
  if (!Array.isArray(resume) || resume.length === 0) return undefined;
  const fits = resume.every((each) => isObject(each) && ids.includes(each['id']) && 'value' in each);
  return fits ? Object.fromEntries(resume.map(({ id, value }) => [id, value])) : undefined;
}
