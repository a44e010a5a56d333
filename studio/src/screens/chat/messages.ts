import { either, isObject, type JsonObject, newId } from '../../api/values.ts';

/** A content block that is not plain text: an image, a file, reasoning. */
export type Block = JsonObject & { readonly type?: unknown };

export interface ToolCallChunk {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly args?: string;
}

/** A chat message as the API sends it. */
export interface Message {
  readonly id?: string | null;
  readonly type: string;
  readonly content: string | readonly Block[];
  readonly name?: string | null;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly tool_call_chunks?: readonly ToolCallChunk[];
  readonly tool_call_id?: string;
  readonly status?: string;
  readonly additional_kwargs?: JsonObject;
}

function isMessage(value: unknown): value is Message {
  return (
    isObject(value) &&
    typeof value['type'] === 'string' &&
    (typeof value['content'] === 'string' || Array.isArray(value['content']))
  );
}

/** The messages of a state. None before the first run, or if the graph has no messages. */
export function messagesOf(values: unknown): readonly Message[] {
  const messages = isObject(values) ? values['messages'] : undefined;
  return Array.isArray(messages) ? messages.filter(isMessage).map(readable) : [];
}

/** Other clients may have written anything into a message. Unreadable parts are left out. */
function readable(message: Message): Message {
  const { content, tool_calls, additional_kwargs } = message;
  const parts = typeof content === 'string' ? content : whole(content, isPart);
  const calls = whole(tool_calls, isCall);
  const kwargs = isObject(additional_kwargs) ? additional_kwargs : undefined;
  if (parts === content && calls === tool_calls && kwargs === additional_kwargs) return message;
  return {
    ...message,
    content: parts ?? '',
    tool_calls: calls ?? [],
    additional_kwargs: kwargs ?? {},
  };
}

/** The list without entries of another type, or the same list if there are none. */
function whole<Entry>(
  list: readonly Entry[] | undefined,
  isOfKind: (entry: unknown) => boolean,
): readonly Entry[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.every(isOfKind) ? list : list.filter(isOfKind);
}

function isPart(part: unknown): boolean {
  return typeof part === 'string' || isObject(part);
}

function isCall(call: unknown): boolean {
  return isObject(call) && typeof call['name'] === 'string';
}

/** The text of a message, without reasoning, media and tool calls. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (typeof block === 'string' ? block : stringOf(block['text']))).join('');
}

/** The model's reasoning. Each provider puts it in a different place. */
export function reasoningOf({ content, additional_kwargs = {} }: Message): string {
  const blocks = typeof content === 'string' ? [] : content;
  const inContent = blocks
    .filter(({ type }) => type === 'thinking' || type === 'reasoning')
    .map((block) => stringOf(block['thinking']) || stringOf(block['reasoning']) || summaryOf(block))
    .join('\n\n');
  // Preferred: while a message is streamed, a chunk may replace what `additional_kwargs` had before.
  if (inContent !== '') return inContent;
  const { reasoning_content, reasoning } = additional_kwargs;
  return stringOf(reasoning_content) || (isObject(reasoning) ? summaryOf(reasoning) : '');
}

function summaryOf({ summary }: JsonObject): string {
  if (!Array.isArray(summary)) return '';
  return summary.map((part) => (isObject(part) ? stringOf(part['text']) : '')).join('\n\n');
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export interface Media {
  readonly kind: 'image' | 'file';
  readonly name: string;
  /** Source URL. `undefined` if the file is only named. */
  readonly url: string | undefined;
}

/** Images and files of a message, in each provider's format. */
export function mediaOf({ content }: Message): readonly Media[] {
  if (typeof content === 'string') return [];
  return content.map(mediaOfBlock).filter((media) => media !== undefined);
}

const MEDIA_TYPES: readonly unknown[] = ['image', 'file', 'audio'];

function mediaOfBlock(block: Block): Media | undefined {
  const { type, image_url, metadata, source, file } = block;
  if (type === 'image_url') {
    return {
      kind: 'image',
      name: 'Image',
      url: stringOf(isObject(image_url) ? image_url['url'] : image_url),
    };
  }
  if (!MEDIA_TYPES.includes(type)) return undefined;
  // Anthropic nests it in `source`, OpenAI in `file`.
  const all: JsonObject = Object.assign({}, ...[metadata, block, source, file].filter(isObject));
  const mime = stringOf(either(all, 'mime_type', 'mimeType', 'media_type'));
  const name = stringOf(either(all, 'filename', 'name')) || mime || 'File';
  const { data } = all;
  const url =
    typeof data === 'string' ? `data:${mime};base64,${data}` : stringOf(either(all, 'url', 'file_data'));
  const kind = type === 'image' || mime.startsWith('image/') ? 'image' : 'file';
  return { kind, name, url: url || undefined };
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** A string while it is being streamed. */
  readonly args: unknown;
}

/** The tool calls of a message, including those whose arguments are still arriving. */
export function toolCallsOf({ tool_calls = [], tool_call_chunks = [] }: Message): readonly ToolCall[] {
  if (tool_calls.length > 0) {
    return tool_calls.map(({ id, name, args }, i) => ({ id: id || String(i), name, args }));
  }
  return tool_call_chunks.map(({ id, name, args, index }) => ({
    id: id || String(index),
    name: name ?? '…',
    args: args ?? '',
  }));
}

export function humanMessage(content: Message['content']): Message {
  return { id: newId(), type: 'human', content };
}

/** Input names of a graph with this schema. A chat needs `messages`. */
export function propertyNames(schema: unknown): readonly string[] {
  return isObject(schema) && isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
}
