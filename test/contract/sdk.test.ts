import { expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../src/app/openapi-document.ts';
import { VERSION } from '../../src/config/version.ts';
import {
  Assistant,
  AssistantSearch,
  AssistantVersion,
  Config,
  GraphSchema,
} from '../../src/schemas/assistants.ts';
import { Command } from '../../src/schemas/command.ts';
import { Cron, CronSearch } from '../../src/schemas/crons.ts';
import { SortOrder } from '../../src/schemas/fields.ts';
import {
  CancelAction,
  MultitaskStrategy,
  Run,
  RunCreate,
  RunField,
  RunStatus,
} from '../../src/schemas/runs.ts';
import { StoreItem, StoreMatch, StoreMatches, StoreNamespaces } from '../../src/schemas/store.ts';
import { StreamMode } from '../../src/schemas/stream-mode.ts';
import {
  CheckpointConfig,
  ThreadState,
  ThreadStateField,
  ThreadTask,
} from '../../src/schemas/thread-state.ts';
import { ThreadStreamMode } from '../../src/schemas/thread-stream.ts';
import {
  Interrupt,
  Thread,
  ThreadCreate,
  ThreadField,
  ThreadSearch,
  ThreadStatus,
} from '../../src/schemas/threads.ts';
import { type SdkRequest, sdkRequests } from '../support/sdk-requests.ts';
import { sdkTypes } from '../support/sdk-types.ts';
import type { OpenApiDocument, Operation } from './openapi-differences.ts';

const { fields, literals } = await sdkTypes();

/** Fields of the SDK's types that this server does not send, and why. */
const NOT_SENT: Readonly<Record<string, string>> = {
  'Interrupt.namespace': 'Set by the client, from event streaming.',
  'Interrupt.when': 'Deprecated: of LangGraph before 0.4.',
  'Interrupt.resumable': 'Deprecated: of LangGraph before 0.4.',
  'Interrupt.ns': 'Deprecated: of LangGraph before 0.4.',
  'Item.createdAt': 'Made by the client from created_at.',
  'Item.updatedAt': 'Made by the client from updated_at.',
  'SearchItem.createdAt': 'Made by the client from created_at.',
  'SearchItem.updatedAt': 'Made by the client from updated_at.',
};

const OBJECTS: [string, { readonly shape: object }][] = [
  ['Assistant', Assistant],
  ['AssistantVersion', AssistantVersion],
  ['Checkpoint', CheckpointConfig],
  ['Command', Command],
  ['Config', z.object(Config.shape)],
  ['Cron', Cron],
  ['CronCreateResponse', Cron],
  ['GraphSchema', GraphSchema],
  ['Interrupt', Interrupt],
  ['Item', StoreItem],
  ['ListNamespaceResponse', StoreNamespaces],
  ['Run', Run],
  ['SearchItem', StoreMatch],
  ['SearchItemsResponse', StoreMatches],
  ['Thread', Thread],
  ['ThreadState', ThreadState],
  ['ThreadTask', ThreadTask],
];

test.each(OBJECTS)('%s has every field that the type of the SDK has', (name, { shape }) => {
  const missing = (fields.get(name) ?? []).filter((field) => !Object.hasOwn(shape, field));
  expect(fields.get(name)).not.toHaveLength(0);
  expect(missing.filter((field) => !NOT_SENT[`${name}.${field}`])).toEqual([]);
});

const { shape: run } = RunCreate;

const UNIONS: [string, z.ZodType][] = [
  ['AssistantSelectField', AssistantSearch.shape.select.unwrap().in.element],
  ['AssistantSortBy', AssistantSearch.shape.sort_by],
  ['CancelAction', CancelAction],
  ['CronSelectField', CronSearch.shape.select.unwrap().in.element],
  ['CronSortBy', CronSearch.shape.sort_by],
  ['DisconnectMode', run.on_disconnect],
  ['Durability', run.durability],
  ['MultitaskStrategy', MultitaskStrategy],
  ['OnConflictBehavior', ThreadCreate.shape.if_exists],
  ['RunSelectField', RunField],
  ['RunStatus', RunStatus],
  ['SortOrder', SortOrder],
  ['StreamMode', StreamMode],
  ['ThreadSelectField', ThreadField],
  ['ThreadSortBy', ThreadSearch.shape.sort_by],
  ['ThreadStateSelectField', ThreadStateField],
  ['ThreadStatus', ThreadStatus],
  ['ThreadStreamMode', ThreadStreamMode],
];

test.each(UNIONS)('%s accepts every value that the type of the SDK has', (name, schema) => {
  const values = literals.get(name) ?? [];
  expect(values).not.toHaveLength(0);
  expect(values.filter((value) => !schema.safeParse(value).success)).toEqual([]);
});

test('each run of a batch accepts the spelling of the SDK', () => {
  const payload = fields.get('RunsCreatePayload') ?? [];
  const sent = payload.filter((field) => !['signal', 'onRunCreated', '_langsmithTracer'].includes(field));
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  expect(sent.length).toBeGreaterThan(15);
  expect(sent.filter((field) => !Object.hasOwn(run, snakeCase(field)))).toEqual([]);
});

/** Fields that the SDK sends and this server does not read, and why. */
const NOT_READ: Readonly<Record<string, string>> = {
  'crons.createForThread: on_run_completed':
    'Its runs share a thread, which outlives them: null, as officially.',
};

const { paths, components } = (await openApiDocument(VERSION)) as OpenApiDocument;

function operationOf({ method, segments }: SdkRequest): Operation | undefined {
  const isPath = (path: string) => {
    const parts = path.split('/').slice(1);
    return (
      parts.length === segments.length &&
      parts.every((part, i) => part.startsWith('{') || part === segments[i])
    );
  };
  // `/runs/crons` is not a run.
  const found = Object.keys(paths)
    .filter(isPath)
    .sort((a, b) => a.split('{').length - b.split('{').length);
  return found
    .map((path) => paths[path]?.[method.toLowerCase()])
    .find((operation) => operation !== undefined);
}

test('each method of the SDK sends only what the OpenAPI document describes', async () => {
  const requests = await sdkRequests();
  expect(requests.size).toBeGreaterThan(40);
  const unknown = [...requests].flatMap(([name, sent]) => {
    expect([name, sent.length > 0]).toEqual([name, true]);
    return sent.flatMap((request) => undescribed(request).map((field) => `${name}: ${field}`));
  });
  expect(unknown.filter((field) => !NOT_READ[field])).toEqual([]);
});

function undescribed(request: SdkRequest): string[] {
  const operation = operationOf(request);
  if (!operation) return [`no operation ${request.method} /${request.segments.join('/')}`];
  const query = (operation.parameters ?? []).map(({ name }) => name);
  const schema = operation.requestBody?.content['application/json']?.schema ?? {};
  const named = schema.$ref && components.schemas[schema.$ref.split('/').at(-1) ?? ''];
  const { properties = {} } = named || schema;
  return [
    ...request.query.filter((name) => !query.includes(name)).map((name) => `query ${name}`),
    ...request.body.filter((name) => !Object.hasOwn(properties, name)),
  ];
}
