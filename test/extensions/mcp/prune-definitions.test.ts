import { expect, test } from 'vitest';
import { pruneDefinitions } from '../../../src/extensions/mcp/tool-schemas.ts';

test('pruning a JSON schema removes unreferenced definitions and keeps those referenced by others', () => {
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

test('pruning a JSON schema keeps a definition with an $anchor, which can be referenced from anywhere', () => {
  const schema = { type: 'object', $defs: { named: { $anchor: 'here', type: 'string' } } };
  expect(pruneDefinitions(schema)).toEqual(schema);
});

test('pruning a JSON schema with circular definitions terminates', () => {
  const schema = {
    properties: { a: { $ref: '#/$defs/A' } },
    $defs: { A: { items: { $ref: '#/$defs/B' } }, B: { items: { $ref: '#/$defs/A' } } },
  };
  expect(pruneDefinitions(schema)).toEqual(schema);
});
