import { addressOf, type Operation } from '../support/operations.ts';
import { type Described, largestFields } from './largest-values.ts';

export interface LargestRequest {
  readonly name: string;
  /** The field that is as large as it may be. */
  readonly field?: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

const NUMBERS = Array.from({ length: 24_000 }, (_, n) => n);
const TEXT = 'word '.repeat(600_000);
const PATH = `metadata${'.a'.repeat(31)}`;

/**
 * The example of the document, filled up to the limits of a body with what any request may have besides its fields, and
 * the example with each of its fields as large as it may be.
 */
export function largestOf(
  operation: Operation,
  ids: Readonly<Record<string, string>>,
  components: Readonly<Record<string, Described>>,
): LargestRequest[] {
  const { id: name, method, body, schema } = operation;
  const path = addressOf(operation, ids);
  const filled =
    body === undefined || Array.isArray(body) ? body : { ...body, more: { numbers: NUMBERS, text: TEXT } };
  const fields = schema === undefined ? [] : largestFields(schema, components);
  return [
    { name, method, path, body: filled },
    ...fields.map(([field, value]) => ({ name, field, method, path, body: { ...body, [field]: value } })),
  ];
}

const post = (name: string, path: string, body: unknown): LargestRequest => ({
  name,
  method: 'POST',
  path,
  body,
});
const phrases = Array.from({ length: 8 }, (_, n) => `"${'word '.repeat(n + 1)}"`).join(' ');
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const extract = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`p${n}`, PATH]));

const superstep = (updates: number) =>
  post('superstep of updates', '/threads', {
    metadata: { graph_id: 'echo' },
    supersteps: [
      { updates: Array.from({ length: updates }, (_, n) => ({ values: { log: [`${n}`] }, as_node: 'a' })) },
    ],
  });

/** Requests whose terms are multiplied by rows, and messages of the protocols. */
export const PRODUCTS: readonly LargestRequest[] = [
  post('search of threads by metadata', '/threads/search', {
    metadata: { kind: { is: 'large' } },
    select: [],
  }),
  post('search of threads by title', '/threads/search', { title: `${'a'.repeat(199)}b` }),
  post('search of threads by values', '/threads/search', { values: { text: 'y'.repeat(60_000) } }),
  post('search of threads with paths', '/threads/search', { limit: 300, extract, select: [] }),
  post('count of threads', '/threads/count', { metadata: { kind: { is: 'none' } }, title: 'b' }),
  post('search of runs', '/runs/search', { metadata: { kind: { is: 'large' } }, limit: 1000 }),
  post('search of runs by threads', '/runs/search', { thread_metadata: { kind: { is: 'none' } } }),
  post('search of assistants', '/assistants/search', { metadata: { kind: { is: 'large' } } }),
  post('search of crons', '/runs/crons/search', { metadata: { kind: { is: 'large' } }, limit: 5 }),
  post('count of interrupts', '/interrupts/count', { deadline_from: '2026-01-01T00:00:00Z' }),
  post('store: comparison', '/store/items/search', { filter: { z: { $gt: 5 } } }),
  post('store: filter', '/store/items/search', { filter: { half: 2 }, namespace_prefix: ['notes'] }),
  post('store: phrases', '/store/items/search', { query: phrases, select: ['key'] }),
  post('store: whole items', '/store/items/search', { limit: 60 }),
  post('list of states', '/threads/search', { limit: 25 }),
  superstep(200),
  post(
    'A2A message',
    '/a2a/echo',
    rpc('message/send', {
      message: {
        kind: 'message',
        messageId: 'm',
        role: 'user',
        parts: [{ kind: 'data', data: { numbers: NUMBERS } }],
      },
    }),
  ),
  post(
    'A2A message of many parts',
    '/a2a/echo',
    rpc('SendMessage', {
      message: {
        messageId: 'm',
        role: 'ROLE_USER',
        parts: Array.from({ length: 1000 }, (_, n) => ({ data: { [n]: 'x'.repeat(400) } })),
      },
      configuration: { acceptedOutputModes: Array.from({ length: 100 }, (_, n) => `text/${n}`) },
    }),
  ),
  post('A2A list of tasks', '/a2a/echo', rpc('ListTasks', { pageSize: 40, includeArtifacts: true })),
  post(
    'MCP batch',
    '/mcp/',
    Array.from({ length: 100 }, (_, id) => ({ ...rpc('tools/list', {}), id })),
  ),
  post('MCP call', '/mcp/', rpc('tools/call', { name: 'echo', arguments: { x: NUMBERS } })),
];

/** For a server that has no bounds of these. */
export const UNBOUNDED: readonly LargestRequest[] = [
  superstep(3000),
  ...PRODUCTS.filter(({ name }) => /^store: (filter|whole items)$/.test(name)),
];
