import type { Part } from '@a2a-js/sdk';
import { isObject, type JsonObject } from '../../core/json.ts';

const MEDIA = ['image', 'audio', 'video'];

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

export function dataPart(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: '' };
}

/** Media type of a part, with a default by content kind. */
export function mediaTypeOf({ content, mediaType }: Part): string {
  if (mediaType !== '') return mediaType;
  if (content?.$case === 'text') return 'text/plain';
  return content?.$case === 'data' ? 'application/json' : 'application/octet-stream';
}

/** Matches a media type such as `image/png` against `image/png`, `image/*` and `*` + `/*`. */
export function isAccepted(mediaType: string, taken: readonly string[]): boolean {
  const [kind] = mediaType.split('/');
  return taken.some((type) => [mediaType, `${kind}/*`, '*/*', '*', kind].includes(type));
}

/** Converts a part to a LangChain content block; data becomes JSON text, because models read text only. */
export function blockOf(part: Part): JsonObject | undefined {
  const { content, mediaType, filename } = part;
  if (content === undefined) return undefined;
  if (content.$case === 'text') return { type: 'text', text: content.value };
  if (content.$case === 'data') return { type: 'text', text: JSON.stringify(content.value) };
  const kind = mediaType.split('/')[0] ?? '';
  const source =
    content.$case === 'url' ? { url: content.value } : { data: content.value.toString('base64') };
  return {
    type: MEDIA.includes(kind) ? kind : 'file',
    ...source,
    ...(mediaType === '' ? {} : { mimeType: mediaType }),
    ...(filename === '' ? {} : { metadata: { filename } }),
  };
}

/** Converts message content to parts; skips blocks without displayable content, such as tool calls. */
export function partsOf(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  return Array.isArray(content) ? content.flatMap(partOf) : [];
}

function partOf(block: unknown): Part[] {
  if (typeof block === 'string') return block === '' ? [] : [textPart(block)];
  if (!isObject(block)) return [];
  if (block['type'] === 'text') return partsOf(block['text']);
  if (![...MEDIA, 'file'].includes(String(block['type']))) return [];
  const described = {
    metadata: undefined,
    filename: textIn(block, 'filename', 'name'),
    mediaType: textIn(block, 'mimeType', 'mime_type'),
  };
  const data = textIn(block, 'data', 'base64');
  if (data !== '') return [{ content: { $case: 'raw', value: Buffer.from(data, 'base64') }, ...described }];
  const url = textIn(block, 'url');
  return url === '' ? [] : [{ content: { $case: 'url', value: url }, ...described }];
}

/** The first string among the fields, also in the block's `metadata`, where LangChain stores some of them. */
function textIn(block: JsonObject, ...names: string[]): string {
  const metadata = isObject(block['metadata']) ? block['metadata'] : {};
  const found = names.flatMap((name) => [block[name], metadata[name]]);
  return found.find((value): value is string => typeof value === 'string') ?? '';
}
