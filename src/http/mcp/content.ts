import type { ContentBlock } from '@modelcontextprotocol/server';
import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import { answersIn, messagesIn, textOf } from '../../services/messages.ts';

/** What a tool says: the last answer of the assistant, or all of the output where it does not speak in messages. */
export function contentOf(values: JsonObject, output: JsonObject): ContentBlock[] {
  if (messagesIn(values).length === 0) return [{ type: 'text', text: toJson(output) }];
  const answer = answersIn(values).at(-1);
  const text = textOf(answer?.content);
  const media = Array.isArray(answer?.content) ? answer.content.flatMap(mediaBlock) : [];
  return text === '' && media.length > 0 ? media : [{ type: 'text', text }, ...media];
}

/** LangChain's image, audio, video and file blocks; other blocks are no content of a tool. */
function mediaBlock(block: unknown): ContentBlock[] {
  if (!isObject(block) || typeof block['type'] !== 'string') return [];
  const { type, url } = block;
  const data = firstText(block['data'], block['base64']);
  const mimeType = firstText(block['mimeType'], block['mime_type']);
  const name = firstText(block['filename'], block['name']) ?? type;
  if (!['image', 'audio', 'video', 'file'].includes(type)) return [];
  if (data !== undefined && (type === 'image' || type === 'audio')) {
    return [{ type, data, mimeType: mimeType ?? `${type}/*` }];
  }
  const described = mimeType === undefined ? {} : { mimeType };
  if (data !== undefined) {
    const uri = `attachment:${encodeURIComponent(name)}`;
    return [{ type: 'resource', resource: { uri, blob: data, ...described } }];
  }
  return typeof url === 'string' ? [{ type: 'resource_link', uri: url, name, ...described }] : [];
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string');
}
