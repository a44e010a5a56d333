import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

// By its path: what it imports is of browsers, whose types are not those of the server.
const module = resolve(import.meta.dirname, '../../studio/src/ui/schema-words.ts');
const { exampleOf, typeInWords } = (await import(module)) as {
  typeInWords(schema: object): string;
  exampleOf(schema: object): string;
};

describe('a field of a JSON Schema in words', () => {
  test.each([
    ['a text that may be null', { type: ['string', 'null'] }, 'text', ''],
    ['a text with an example', { type: 'string', examples: ['tea'] }, 'text', 'tea'],
    ['a whole number', { type: 'integer' }, 'whole number', ''],
    [
      'a list of texts that is empty by default',
      { type: 'array', items: { type: 'string' }, default: [] },
      'list of texts',
      '["text"]',
    ],
    ['a list of anything', { type: 'array' }, 'list', ''],
    [
      'a nested object',
      {
        type: 'object',
        properties: {
          size: { enum: ['s', 'm'], type: 'string' },
          at: { type: 'object', properties: { x: { type: 'integer' } } },
        },
      },
      'object',
      '{"size":"s","at":{"x":1}}',
    ],
    ['one of several types', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, '', ''],
    ['a value without a schema', {}, '', ''],
  ])('%s has its type and an example', (_name, schema, type, example) => {
    expect([typeInWords(schema), exampleOf(schema)]).toEqual([type, example]);
  });

  test('an example ends where a schema refers to itself again and again', () => {
    const tree: { type: string; properties: object } = { type: 'object', properties: {} };
    tree.properties = { name: { type: 'string' }, child: tree };
    expect(exampleOf(tree)).toBe('{"name":"text","child":{"name":"text"}}');
  });
});
