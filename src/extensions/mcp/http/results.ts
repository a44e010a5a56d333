import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { isObject, type JsonObject, toJson } from '../../../core/json.ts';
import type { Run } from '../../../schemas/runs.ts';
import { interruptText } from '../../../services/conversation/human-in-the-loop.ts';
import { aiMessagesOfLastTurn, stateMessages, textOf } from '../../../services/conversation/messages.ts';
import type { ToolOutcome } from '../service.ts';
import type { AssistantTool } from '../tools.ts';

/** Result of a finished run. A graph may provide it by `mcp: {content, isError}` in its output. */
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

/** For clients without elicitation: the questions as text and as data, to be answered on the named thread. */
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

/** Projects the state onto the output schema. */
function outputOf(schema: JsonObject, values: JsonObject): JsonObject {
  const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {});
  const given = names.filter((name) => values[name] !== undefined && values[name] !== null);
  return Object.fromEntries(given.map((name) => [name, values[name]]));
}

/** Ids of the run, for tracing a call. */
function metaOf({ thread_id, run_id }: Run) {
  return { _meta: { thread_id, run_id } };
}

/** Content of a tool result: the assistant's last answer, or the whole output if the state has no messages. */
export function contentOf(values: JsonObject, output: JsonObject): ContentBlock[] {
  if (stateMessages(values).length === 0) return [{ type: 'text', text: toJson(output) }];
  const answer = aiMessagesOfLastTurn(values).at(-1);
  const text = textOf(answer?.content);
  const media = Array.isArray(answer?.content) ? answer.content.flatMap(mediaBlock) : [];
  return text === '' && media.length > 0 ? media : [{ type: 'text', text }, ...media];
}

/** Converts LangChain's image, audio, video and file blocks; other blocks have no MCP equivalent. */
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
