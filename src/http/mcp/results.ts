import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import type { Run } from '../../schemas/runs.ts';
import { interruptText } from '../../services/chat/human-in-the-loop.ts';
import { aiMessagesOfLastTurn, stateMessages, textOf } from '../../services/chat/messages.ts';
import type { ToolOutcome } from '../../services/mcp/mcp.ts';
import type { AssistantTool } from '../../services/mcp/tools.ts';

/** The result of a call that came to its end. A graph may say it itself by `mcp: {content, isError}` in its output. */
export function valuesResult({ schemas }: AssistantTool, run: Run, values: JsonObject): CallToolResult {
  const { mcp: custom, ...rest } = values;
  const output = schemas.output ? outputOf(schemas.output, rest) : undefined;
  const given = isObject(custom) ? custom : {};
  const content = Array.isArray(given['content'])
    ? (given['content'] as CallToolResult['content'])
    : contentOf(rest, output ?? rest);
  return {
    content,
    ...(output ? { structuredContent: output } : {}),
    ...(given['isError'] === true ? { isError: true } : {}),
    ...metaOf(run),
  };
}

export function failedResult(message: string, run?: Run): CallToolResult {
  return { content: [{ type: 'text', text: message }], isError: true, ...(run ? metaOf(run) : {}) };
}

/** For clients that cannot be asked: the questions as text and as data; they answer on the thread that is named. */
export function questionResult(
  { schemas }: AssistantTool,
  run: Run,
  { values, interrupts }: Extract<ToolOutcome, { kind: 'interrupted' }>,
): CallToolResult {
  const output = schemas.output ? outputOf(schemas.output, values) : {};
  return {
    content: interrupts.map(({ value }) => ({ type: 'text', text: interruptText(value) })),
    structuredContent: { ...output, __interrupt__: interrupts },
    ...metaOf(run),
  };
}

/** What the schema names; a graph's state may hold more than its output. */
function outputOf(schema: JsonObject, values: JsonObject): JsonObject {
  const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {});
  const given = names.filter((name) => values[name] !== undefined && values[name] !== null);
  return Object.fromEntries(given.map((name) => [name, values[name]]));
}

/** Where the work was done, for who wants to look at it. */
function metaOf({ thread_id, run_id }: Run) {
  return { _meta: { thread_id, run_id } };
}

/** What a tool says: the last answer of the assistant, or all of the output where it does not speak in messages. */
export function contentOf(values: JsonObject, output: JsonObject): ContentBlock[] {
  if (stateMessages(values).length === 0) return [{ type: 'text', text: toJson(output) }];
  const answer = aiMessagesOfLastTurn(values).at(-1);
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
