import { tryOrUndefined } from '../../core/failure.ts';
import { isUuid } from '../../core/ids.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import {
  fieldNames,
  inputFields,
  onlyTextField,
  propertiesOf,
} from '../../services/conversation/input-fields.ts';
import { UsageError } from '../command.ts';
import { call, type Server } from './client.ts';
import { oneLine } from './sanitize.ts';

/** The assistant to run. */
export interface AssistantRef {
  /** As given on the command line. */
  readonly name: string;
  /** Undefined if the server lists no such assistant: creating the run then reports the error. */
  readonly assistant_id: string | undefined;
}

/** Resolves a name or id. Throws the server's error for an unknown id. */
export async function findAssistant(server: Server, name: string): Promise<AssistantRef> {
  if (isUuid(name)) {
    const { assistant_id } = await call(server, { method: 'GET', path: `/assistants/${name}` }, isAssistant);
    return { name, assistant_id };
  }
  const body = { graph_id: name, metadata: { created_by: 'system' }, limit: 1 };
  const [found] = await call(server, { method: 'POST', path: '/assistants/search', body }, areAssistants);
  return { name, assistant_id: found?.assistant_id };
}

/** Builds the graph's input: a JSON object as is, a text as a message or in the input's only text field. */
export async function inputFor(server: Server, asked: AssistantRef, text: string): Promise<JsonObject> {
  const given: unknown = text.trimStart().startsWith('{')
    ? tryOrUndefined(() => JSON.parse(text))
    : undefined;
  if (isObject(given)) return given;
  const { has_messages, fields } = inputFields((await schemasOf(server, asked))['input_schema']);
  if (has_messages) return { messages: [{ role: 'user', content: text }] };
  const field = onlyTextField(fields);
  if (field !== undefined) return { [field]: text };
  throw new UsageError(
    `ask: ${asked.name} does not accept messages; give an object with its fields: ${oneLine(fieldNames(fields))}`,
  );
}

/** Projects the state onto the graph's output schema; returns all of it if the schema is unknown. */
export async function outputOf(server: Server, asked: AssistantRef, values: JsonObject): Promise<JsonObject> {
  const names = Object.keys(propertiesOf((await schemasOf(server, asked))['output_schema']));
  const given = Object.entries(values).filter(([name]) => names.length === 0 || names.includes(name));
  return Object.fromEntries(given);
}

async function schemasOf(server: Server, { assistant_id }: AssistantRef): Promise<JsonObject> {
  if (assistant_id === undefined) return {};
  return call(server, { method: 'GET', path: `/assistants/${assistant_id}/schemas` }, isObject);
}

function isAssistant(value: unknown): value is { readonly assistant_id: string } {
  return isObject(value) && typeof value['assistant_id'] === 'string' && isUuid(value['assistant_id']);
}

function areAssistants(value: unknown): value is { readonly assistant_id: string }[] {
  return Array.isArray(value) && value.every(isAssistant);
}
