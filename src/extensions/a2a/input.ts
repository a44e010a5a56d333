import type { Message, Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { RunCreate } from '../../schemas/runs.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { resumeValueOf } from '../../services/conversation/human-in-the-loop.ts';
import { fieldNames, onlyTextField } from '../../services/conversation/input-fields.ts';
import type { CardData } from './card-data.ts';
import { blockOf, isAccepted, mediaTypeOf } from './parts.ts';

/** Throws `ContentTypeNotSupportedError` if the assistant does not accept a part's media type. */
export function checkMediaTypes({ parts }: Message, { input_modes }: CardData): void {
  if (!input_modes) return;
  const refused = parts.map(mediaTypeOf).find((type) => !isAccepted(type, input_modes));
  if (refused === undefined) return;
  throw new ContentTypeNotSupportedError(
    `Content of type ${refused} is not supported. Supported: ${input_modes.join(', ')}`,
  );
}

/**
 * Maps a message to graph input: text and file parts become one user message, data objects are merged into the input. A
 * graph without messages takes text in its only text field, else throws `RequestMalformedError` with its field names.
 */
export function inputOf(message: Message, card: CardData): JsonObject {
  const values = message.parts.filter(isInput).map(({ content }) => content?.value as JsonObject);
  const contentParts = message.parts.filter((part) => !isInput(part));
  const input: JsonObject = Object.assign({}, ...values);
  if (contentParts.length === 0) return input;
  if (!card.has_messages) return { ...input, ...asTextField(contentParts, card) };
  const given = Array.isArray(input['messages']) ? input['messages'] : [];
  const content = contentOf(contentParts);
  return { ...input, messages: [...given, { role: 'user', content, id: message.messageId }] };
}

/** Resume value for the pending interrupts; tries the forms in the order of docs/a2a.md. */
export function resumeValue({ parts }: Message, interrupts: readonly Interrupt[]): unknown {
  const data = parts.flatMap(({ content }) =>
    content?.$case === 'data' && isObject(content.value) ? [content.value] : [],
  );
  const ids = interrupts.map(({ id }) => id);
  const [first] = data;
  if (first === undefined) {
    const [part] = parts;
    if (parts.every(isText)) return resumeValueOf(onlyOne(interrupts)?.value, textOfParts(parts));
    return parts.length === 1 && part?.content?.$case === 'data' ? part.content.value : contentOf(parts);
  }
  const { resume, ...others } = first;
  if (resume !== undefined && Object.keys(others).length === 0) {
    return answersById(resume, ids) ?? resume;
  }
  return first;
}

/** Run options from message metadata: `configurable`, `context`, and the rest as run metadata. */
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

function isText({ content }: Part): boolean {
  return content?.$case === 'text';
}

function contentOf(parts: readonly Part[]): unknown {
  const [first] = parts;
  if (parts.length === 1 && first?.content?.$case === 'text') return first.content.value;
  return parts.map(blockOf).filter((block) => block !== undefined);
}

function asTextField(parts: readonly Part[], { fields }: CardData): JsonObject {
  const field = onlyTextField(fields);
  if (field !== undefined && parts.every(isText)) return { [field]: textOfParts(parts) };
  throw new RequestMalformedError(
    `This agent does not accept messages. Send a data part with an object that has its fields: ${fieldNames(fields)}`,
  );
}

function textOfParts(parts: readonly Part[]): string {
  return parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
}

/** Parses `[{id, value}, …]`; `undefined` unless each `id` is a pending interrupt. */
function answersById(resume: unknown, ids: readonly unknown[]): JsonObject | undefined {
  if (!Array.isArray(resume) || resume.length === 0) return undefined;
  const fits = resume.every((each) => isObject(each) && ids.includes(each['id']) && 'value' in each);
  return fits ? Object.fromEntries(resume.map(({ id, value }) => [id, value])) : undefined;
}
