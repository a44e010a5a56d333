import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Key, KeyCreate, KeyCreated } from '../../schemas/keys.ts';
import { KeyPath } from '../../schemas/request-params.ts';
import type { KeyService } from '../../services/keys.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

const tags = [TAGS.system];
const limited = {
  403: 'API keys are available only to unrestricted callers, such as a key with the scope "admin".',
};

export function keyRoutes(server: FastifyInstance, { keys }: { keys: KeyService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/keys',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'list_keys',
        summary: 'List API keys',
        description:
          'Keys created at run time, oldest first, without their secrets. Excludes keys from the configuration.',
        tags,
        response: { 200: z.array(Key) },
        failures: limited,
      },
    },
    ({ actor }) => keys.list(actor),
  );

  app.post(
    '/keys',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'create_key',
        summary: 'Create API key',
        description:
          'Creates a key that works immediately. Only this response contains its secret. Without an API key in the request it is refused, also on a server that asks for none.',
        tags,
        body: KeyCreate,
        example: { name: 'backend', scope: 'run', expires_in_days: 90 },
        response: { 200: KeyCreated },
        failures: limited,
      },
    },
    async ({ actor, body }, reply) => {
      reply.header('cache-control', 'no-store');
      return keys.create(actor, body);
    },
  );

  app.delete(
    '/keys/:key_id',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'delete_key',
        summary: 'Revoke API key',
        description:
          'Revokes the key and the tokens created with it, at once in this process and within a second in others. The key stays in the list.',
        tags,
        params: KeyPath,
        response: { 204: z.undefined() },
        failures: { ...limited, 404: 'API key … not found, or already revoked' },
      },
    },
    async ({ actor, params }, reply) => {
      await keys.revoke(actor, params.key_id);
      reply.code(204);
    },
  );
}
