import type { CallToolResult } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { Run } from '../../schemas/runs.ts';
import { questionOf } from '../../services/interrupt-question.ts';
import type { ToolOutcome } from '../../services/mcp/tool-calls.ts';
import type { AssistantTool } from '../../services/mcp/tools.ts';
import { contentOf } from './content.ts';

/** The result of a call that came to its end. A graph may say it itself by `mcp: {content, isError}` in its output. */
export function valuesResult({ schemas }: AssistantTool, run: Run, values: JsonObject): CallToolResult {
  const { mcp: own, ...rest } = values;
  const output = schemas.output ? outputOf(schemas.output, rest) : undefined;
  const said = isObject(own) ? own : {};
  const content = Array.isArray(said['content'])
    ? (said['content'] as CallToolResult['content'])
    : contentOf(rest, output ?? rest);
  return {
    content,
    ...(output ? { structuredContent: output } : {}),
    ...(said['isError'] === true ? { isError: true } : {}),
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
    content: interrupts.map(({ value }) => ({ type: 'text', text: questionOf(value) })),
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
