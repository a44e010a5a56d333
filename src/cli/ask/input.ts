import { safely } from '../../core/failure.ts';
import { isUuid } from '../../core/ids.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { inputFields, namesOf, propertiesOf, textField } from '../../services/input-fields.ts';
import { UsageError } from '../command.ts';
import { call, type Server } from './server.ts';

/** The graph's input: an object of JSON as it is, a text as a message, or in the one field that takes it. */
export async function inputFor(server: Server, assistant: string, text: string): Promise<JsonObject> {
  const given: unknown = text.trimStart().startsWith('{') ? safely(() => JSON.parse(text)) : undefined;
  if (isObject(given)) return given;
  const { has_messages, fields } = inputFields((await schemasOf(server, assistant))['input_schema']);
  if (has_messages) return { messages: [{ role: 'user', content: text }] };
  const field = textField(fields);
  if (field !== undefined) return { [field]: text };
  throw new UsageError(
    `ask: ${assistant} takes no messages; give an object with its fields: ${namesOf(fields)}`,
  );
}

/** Of a state what the graph puts out: all of it where nobody knows. */
export async function outputOf(server: Server, assistant: string, values: JsonObject): Promise<JsonObject> {
  const names = Object.keys(propertiesOf((await schemasOf(server, assistant))['output_schema']));
  const given = Object.entries(values).filter(([name]) => names.length === 0 || names.includes(name));
  return Object.fromEntries(given);
}

/** Empty of an assistant that is not found: the server says so when the run is made. */
async function schemasOf(server: Server, assistant: string): Promise<JsonObject> {
  const assistant_id = isUuid(assistant) ? assistant : await idOf(server, assistant);
  if (assistant_id === undefined) return {};
  return call<JsonObject>(server, 'GET', `/assistants/${assistant_id}/schemas`);
}

async function idOf(server: Server, graph_id: string): Promise<string | undefined> {
  const search = { graph_id, metadata: { created_by: 'system' }, limit: 1 };
  const [found] = await call<{ assistant_id: string }[]>(server, 'POST', '/assistants/search', search);
  return found?.assistant_id;
}
