import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

type Draft = Readonly<Record<string, string | boolean>>;
interface Property {
  readonly name: string;
}
// By its path: what it imports is of browsers, whose types are not those of the server.
const module = resolve(import.meta.dirname, '../../studio/src/ui/schema-fields.tsx');
const { draftOf, propertiesOf, valuesOf } = (await import(module)) as {
  propertiesOf(schema: unknown): readonly Property[];
  draftOf(properties: readonly Property[], values?: object): Draft;
  valuesOf(properties: readonly Property[], draft: Draft): { values: object; errors: object };
};

/** What is sent when these texts are typed into the fields of a schema. */
function sent(schema: object, typed: Draft, initial: object = {}) {
  const properties = propertiesOf({ type: 'object', properties: schema });
  return valuesOf(properties, { ...draftOf(properties, initial), ...typed });
}

describe('fields from a JSON Schema', () => {
  test('a choice is sent with its type in the schema, not as text', () => {
    const schema = { stars: { type: 'integer', enum: [1, 2, 3] }, topping: { enum: ['nuts', null, false] } };
    expect(sent(schema, { stars: '2', topping: 'null' }).values).toEqual({ stars: 2, topping: null });
    expect(sent(schema, { stars: '2', topping: 'false' }).values).toEqual({ stars: 2, topping: false });
    expect(sent(schema, { topping: 'nuts' }).values).toEqual({ topping: 'nuts' });
  });

  test('a value that is no longer a choice is kept until another one is chosen', () => {
    const schema = { size: { enum: ['small', 'large'] } };
    expect(sent(schema, {}, { size: 'medium' }).values).toEqual({ size: 'medium' });
  });

  test('a text that is not a number is refused, including white space', () => {
    const schema = { nights: { type: 'integer' } };
    for (const nights of ['two', ' '])
      expect(sent(schema, { nights }).errors).toEqual({ nights: 'Enter a number.' });
    expect(sent(schema, { nights: ' 2 ' })).toEqual({ values: { nights: 2 }, errors: {} });
  });
});
