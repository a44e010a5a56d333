import { isObject, type JsonObject } from '../../core/json.ts';

/** A field of a graph's input. */
export interface InputField {
  readonly name: string;
  /** As its JSON Schema says. */
  readonly type: unknown;
  readonly required: boolean;
}

export interface InputFields {
  /** It has a list of messages, or nobody knows what it has. */
  readonly has_messages: boolean;
  readonly fields: readonly InputField[];
}

/** What a graph takes, by the JSON Schema of its input. */
export function inputFields(schema: unknown): InputFields {
  const properties = propertiesOf(schema);
  const required = isObject(schema) ? schema['required'] : [];
  return {
    has_messages: 'messages' in properties || Object.keys(properties).length === 0,
    fields: Object.entries(properties).map(([name, field]) => ({
      name,
      type: isObject(field) ? field['type'] : undefined,
      required: Array.isArray(required) && required.includes(name),
    })),
  };
}

/** The field that a text alone goes into; undefined when there is none, or more than one that it could be. */
export function onlyTextField(fields: readonly InputField[]): string | undefined {
  const texts = fields.filter(({ type }) => type === 'string');
  // Most graphs say of no field that they need it: then one text field is clear enough.
  const needed = fields.some(({ required }) => required) ? texts.filter(({ required }) => required) : texts;
  return needed.length === 1 ? needed[0]?.name : undefined;
}

/** `question, user (optional)`: for who must name them. */
export function fieldNames(fields: readonly InputField[]): string {
  return fields.map(({ name, required }) => (required ? name : `${name} (optional)`)).join(', ');
}

export function propertiesOf(schema: unknown): JsonObject {
  return isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
}
