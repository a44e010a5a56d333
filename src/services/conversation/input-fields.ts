import { isObject, type JsonObject } from '../../core/json.ts';

/** A field of a graph's input. */
export interface InputField {
  readonly name: string;
  /** JSON Schema `type`. */
  readonly type: unknown;
  readonly required: boolean;
}

export interface InputFields {
  /** `true` if the input has `messages`, or if its fields are unknown. */
  readonly has_messages: boolean;
  readonly fields: readonly InputField[];
}

/** Input fields of a graph, from its input JSON Schema. */
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

/** The field that takes plain text; `undefined` if there is none, or if several would do. */
export function onlyTextField(fields: readonly InputField[]): string | undefined {
  const texts = fields.filter(({ type }) => type === 'string');
  // Most graphs mark no field as required: then a single text field is unambiguous.
  const needed = fields.some(({ required }) => required) ? texts.filter(({ required }) => required) : texts;
  return needed.length === 1 ? needed[0]?.name : undefined;
}

/** `question, user (optional)`, for error messages. */
export function fieldNames(fields: readonly InputField[]): string {
  return fields.map(({ name, required }) => (required ? name : `${name} (optional)`)).join(', ');
}

export function propertiesOf(schema: unknown): JsonObject {
  return isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
}
