import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  StoreDelete,
  StoreGetQuery,
  StoreItem,
  type StoreMatch,
  StoreMatches,
  StoreNamespaceQuery,
  StoreNamespaces,
  StorePut,
  StoreSearch,
} from '../../schemas/store.ts';
import type { StoreService } from '../../services/store.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

const tags = [TAGS.store];
const namespace = ['memories', 'ada'];

export function storeRoutes(server: FastifyInstance, { store }: { store: StoreService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.put(
    '/store/items',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'put_item',
        summary: 'Put item',
        description: 'Stores a value under a namespace and a key, and replaces an existing one.',
        tags,
        body: StorePut,
        example: { namespace, key: 'coffee', value: { text: 'likes coffee black', cups: 3 } },
        response: { 204: z.undefined() },
        failures: { 400: 'Namespace cannot be empty.', 409: 'Conflict' },
      },
    },
    async ({ actor, body }, reply) => {
      await store.put(actor, body);
      reply.code(204);
    },
  );

  app.get(
    '/store/items',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_item',
        summary: 'Get item',
        description: 'The item, or `null` if it does not exist.',
        tags,
        querystring: StoreGetQuery,
        response: { 200: StoreItem.nullable() },
        failures: { 400: 'Key is required' },
      },
    },
    ({ actor, query }) => store.get(actor, query),
  );

  app.delete(
    '/store/items',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'delete_item',
        summary: 'Delete item',
        description: 'Deletes the item. Succeeds if the item does not exist.',
        tags,
        body: StoreDelete,
        example: { namespace, key: 'coffee' },
        response: { 204: z.undefined() },
      },
    },
    async ({ actor, body }, reply) => {
      await store.delete(actor, body);
      reply.code(204);
    },
  );

  app.post(
    '/store/items/search',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_items',
        summary: 'Search items',
        description:
          'Items under a namespace: those that match a query, best first, or all, most recently changed first.',
        tags,
        body: StoreSearch,
        example: { namespace_prefix: ['memories'], filter: { cups: { $gt: 1 } }, query: 'coffee', limit: 10 },
        response: { 200: StoreMatches },
        failures: { 400: 'Unsupported operator: $in' },
      },
    },
    // Items have the selected fields only.
    async ({ actor, body }) => ({ items: (await store.search(actor, body)) as StoreMatch[] }),
  );

  app.post(
    '/store/namespaces',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_namespaces',
        summary: 'List namespaces',
        description: 'Namespaces with items, filtered by prefix and suffix.',
        tags,
        body: StoreNamespaceQuery,
        example: { prefix: ['memories', '*'], max_depth: 2 },
        response: { 200: StoreNamespaces },
      },
    },
    async ({ actor, body }) => ({ namespaces: await store.namespaces(actor, body) }),
  );
}
