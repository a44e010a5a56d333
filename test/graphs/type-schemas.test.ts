import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { LogLine } from '../../src/core/logger.ts';
import type { GraphRegistry } from '../../src/graphs/graph.ts';
import { loadGraphs } from '../../src/graphs/runtime/load-graphs.ts';
import { MESSAGE_SCHEMA } from '../../src/graphs/schemas/message-schema.ts';
import { naming } from '../support/naming.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const STATES = resolve(import.meta.dirname, '../fixtures/states');
const SPECS = [
  { graph_id: 'annotation', path: join(STATES, 'annotation.ts'), export: 'graph' },
  { graph_id: 'subgraphs', path: join(STATES, 'subgraphs.ts'), export: 'graph' },
  { graph_id: 'factory', path: join(STATES, 'subgraphs.ts'), export: 'factory' },
  { graph_id: 'messages', path: join(STATES, 'messages-annotation.ts'), export: 'graph' },
  { graph_id: 'untyped', path: join(STATES, 'untyped.mjs'), export: 'graph' },
];

let cache: string;
let graphs: GraphRegistry;
const log: LogLine[] = [];

beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'agent-server-schemas-'));
  graphs = await loadGraphs(SPECS, {
    root: STATES,
    logger: recordingLogger('debug', (line) => log.push(line)),
    // A busy machine needs longer than a server would wait.
    types: { cache, signal: new AbortController().signal, limit_ms: 110_000 },
  });
});
afterAll(() => rm(cache, { recursive: true, force: true }));

async function open(graph_id: string) {
  return graphs.get(graph_id, { configurable: {} }, 'assistants.read');
}

describe('the types of an Annotation', () => {
  test('describe the state: objects, enums, lists, maps, dates, and recursive types', async () => {
    const { state_schema } = await (await open('annotation')).schemas();
    expect(state_schema).toEqual({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        messages: {
          type: 'array',
          items: { $ref: '#/definitions/BaseMessage<MessageStructure<MessageToolSet>,MessageType>' },
          langgraph_type: 'messages',
        },
        order: { $ref: '#/definitions/Order' },
        status: { type: 'string', enum: ['closed', 'open'] },
        log: { type: 'array', items: { type: 'string' } },
        comment: { $ref: '#/definitions/Comment' },
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], minItems: 2 },
        due: { anyOf: [{ type: 'null' }, { type: 'string', format: 'date-time' }] },
        prices: { type: 'object', additionalProperties: { type: 'number' } },
        choice: {
          anyOf: [
            { type: 'number' },
            { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
          ],
        },
        anything: {},
      },
      definitions: {
        'BaseMessage<MessageStructure<MessageToolSet>,MessageType>': {
          description: naming('Base class'),
          oneOf: [{ $ref: '#/definitions/RemoveMessage' }],
        },
        RemoveMessage: MESSAGE_SCHEMA,
        Order: {
          type: 'object',
          properties: {
            item: { type: 'string', description: 'What is ordered.' },
            count: { type: 'number' },
            paid: { type: ['null', 'boolean'] },
            parts: {
              type: 'array',
              items: { $ref: '#/definitions/Order' },
              description: 'Orders may belong together.',
            },
          },
          required: ['item', 'paid', 'parts'],
        },
        Comment: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      },
    });
  });

  test('yield a schema that accepts the wire format and nothing else', async () => {
    const { state_schema } = await (await open('annotation')).schemas();
    const schema = z.fromJSONSchema(state_schema as never);
    const part = { item: 'tea', paid: null, parts: [] };
    const messages = [
      { type: 'human', content: 'Hello', id: 'one' },
      { role: 'assistant', content: [] },
    ];
    expect(
      schema.safeParse({ messages, order: { ...part, parts: [part] }, status: 'open' }).error,
    ).toBeUndefined();
    expect(schema.safeParse({ messages: [{ type: 'human' }] }).success).toBe(false);
    expect(schema.safeParse({ order: { ...part, parts: [{}] } }).success).toBe(false);
  });

  test('describe input, output and context', async () => {
    const schemas = await (await open('annotation')).schemas();
    expect(schemas.input_schema).toMatchObject({
      properties: { order: { $ref: '#/definitions/Order' }, log: { type: 'string' } },
      definitions: { Order: { type: 'object' } },
    });
    expect(Object.keys(schemas.input_schema?.['properties'] ?? {})).toEqual(['order', 'log']);
    expect(schemas.output_schema?.['properties']).toEqual({
      status: { type: 'string', enum: ['closed', 'open'] },
    });
    const context = {
      type: 'object',
      properties: { language: { type: 'string', enum: ['de', 'en'] }, tone: { type: 'string' } },
      required: ['language'],
    };
    expect(schemas.context_schema).toMatchObject(context);
    expect(schemas.config_schema).toMatchObject(context);
  });

  test('describe MessagesAnnotation as messages', async () => {
    const { input_schema, context_schema } = await (await open('messages')).schemas();
    expect(input_schema).toMatchObject({ properties: { messages: { langgraph_type: 'messages' } } });
    expect(context_schema).toBeNull();
  });
});

test.each(['subgraphs', 'factory'])(
  'schemas of the graphs in %s are found by their place in the source',
  async (graph_id) => {
    const graph = await open(graph_id);
    expect(await graph.schemas()).toMatchObject({
      state_schema: { properties: { tree: { type: 'string' } } },
    });
    const subgraphs = await graph.subgraphs(undefined, true);
    expect(subgraphs).toMatchObject({
      branch: { state_schema: { properties: { branch: { type: 'number' } } } },
      'branch|grow': { state_schema: { properties: { leaf: { type: 'string', enum: ['brown', 'green'] } } } },
    });
  },
);

test('graphs without types keep the names of their channels, without a warning', async () => {
  const { state_schema } = await (await open('untyped')).schemas();
  expect(state_schema).toMatchObject({ properties: { messages: { type: 'array' }, topic: {} } });
  expect(log.filter(({ level }) => level === 'warn')).toEqual([]);
});
