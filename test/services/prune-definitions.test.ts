import { expect, test } from 'vitest';
import { pruneDefinitions } from '../../src/services/mcp/tool-schemas.ts';

test('definitions that nothing refers to go, those behind others stay', () => {
  const schema = {
    type: 'object',
    properties: { a: { $ref: '#/definitions/A%3Cstring%3E' }, self: { items: [{ $ref: '#' }] } },
    definitions: {
      'A<string>': { properties: { b: { $ref: '#/definitions/B' } } },
      B: { type: 'string' },
      C: { $ref: '#/definitions/B' },
    },
    $defs: { D: { type: 'number' } },
  };
  const { C: _unused, ...used } = schema.definitions;
  const { $defs: _defs, ...rest } = schema;
  expect(pruneDefinitions(schema)).toEqual({ ...rest, definitions: used });
});

test('a definition with a name of its own stays, for it may be meant from anywhere', () => {
  const schema = { type: 'object', $defs: { named: { $anchor: 'here', type: 'string' } } };
  expect(pruneDefinitions(schema)).toEqual(schema);
});

test('definitions that refer to each other in a circle end', () => {
  const schema = {
    properties: { a: { $ref: '#/$defs/A' } },
    $defs: { A: { items: { $ref: '#/$defs/B' } }, B: { items: { $ref: '#/$defs/A' } } },
  };
  expect(pruneDefinitions(schema)).toEqual(schema);
});
