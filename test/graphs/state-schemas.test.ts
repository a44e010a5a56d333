import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MESSAGES_SCHEMA } from '../../src/graphs/schemas/message-schema.ts';
import { load } from './support.ts';

const STATES = join(import.meta.dirname, '../fixtures/states');
const MESSAGES = expect.objectContaining({
  type: 'array',
  items: MESSAGES_SCHEMA.items,
  langgraph_type: 'messages',
});

async function schemasOf(spec: string) {
  const graphs = await load({ it: spec }, STATES);
  const graph = await graphs.get('it', { configurable: {} }, 'assistants.read');
  return graph.schemas();
}

test('the schemas of a zod 3 state and its context are exact', async () => {
  const { state_schema, input_schema, config_schema, context_schema } = await schemasOf('./zod-v3.mjs:graph');
  const properties = { topic: { type: 'string' }, length: { type: 'integer', default: 3 } };
  expect(state_schema).toMatchObject({ type: 'object', properties, required: ['topic'] });
  expect(input_schema).toMatchObject({ type: 'object', properties });
  expect(input_schema).not.toHaveProperty('required');
  expect(context_schema).toMatchObject({
    properties: { language: { type: 'string' } },
    required: ['language'],
  });
  expect(config_schema).toEqual(context_schema);
});

test('the input of a reducer is in the input schema, its result in the state schema, both with their annotations', async () => {
  const { state_schema, input_schema } = await schemasOf('./zod-registry.ts:graph');
  const log = { type: 'array', items: { type: 'string' }, langgraph_type: 'prompt' };
  expect(state_schema).toMatchObject({ properties: { log } });
  expect(input_schema).toMatchObject({ properties: { log: { type: 'string' } } });
});

test('a StateSchema provides its own schema', async () => {
  const { state_schema, input_schema, output_schema } = await schemasOf('./state-schema.ts:graph');
  const count = { type: 'number', default: 0 };
  const log = { type: 'array', items: { type: 'string' }, default: [] };
  expect(state_schema?.['properties']).toEqual({ messages: MESSAGES, count, log });
  expect(output_schema).toEqual(state_schema);
  expect(input_schema).toMatchObject({ properties: { messages: MESSAGES, count, log: { type: 'string' } } });
});

test.each([
  ['MessagesZodState', './messages-zod.mjs:graph'],
  ['MessagesAnnotation', './messages-annotation.ts:graph'],
])('the schema of %s is a list of messages', async (_, spec) => {
  const { state_schema, input_schema, output_schema, context_schema } = await schemasOf(spec);
  for (const schema of [state_schema, input_schema, output_schema]) {
    expect(schema).toMatchObject({ type: 'object', properties: { messages: MESSAGES } });
  }
  expect(context_schema).toBeNull();
});

test('the schemas of createAgent have messages, its own state and its context', async () => {
  const { state_schema, input_schema, context_schema } = await schemasOf('./create-agent.ts:graph');
  const topic = { type: 'string' };
  expect(state_schema).toMatchObject({ properties: { messages: MESSAGES, topic }, required: ['topic'] });
  expect(input_schema?.['properties']).toEqual({ messages: MESSAGES, topic });
  expect(context_schema).toMatchObject({ properties: { user: { type: 'string' } } });
});

test('schemas of JavaScript without types name the channels and recognize messages by their reducer', async () => {
  const { state_schema, input_schema } = await schemasOf('./untyped.mjs:graph');
  expect(state_schema).toEqual({ type: 'object', properties: { messages: MESSAGES_SCHEMA, topic: {} } });
  expect(input_schema).toEqual(state_schema);
});
