import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { toJson } from '../../core/json.ts';
import { DeliveryPath } from '../../schemas/request-params.ts';
import { Delivery, DeliveryDetail, DeliverySearch, WebhookTest } from '../../schemas/webhooks.ts';
import type { WebhookService } from '../../services/webhooks/webhooks.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { PAGE_HEADERS, paged } from '../reply.ts';
import type { RunReplies } from '../run-replies.ts';

const tags = [TAGS.webhooks];
const missing = { 404: 'Delivery … not found' };
const off = { 409: 'This server sends no webhooks: http.disable_webhooks is set' };

export function webhookRoutes(
  server: FastifyInstance,
  { webhooks, replies }: { webhooks: WebhookService; replies: RunReplies },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/webhooks/deliveries',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_deliveries',
        summary: 'List deliveries',
        description: 'Delivered, pending and dead deliveries, newest first.',
        tags,
        querystring: DeliverySearch,
        response: { 200: z.array(Delivery) },
        response_headers: PAGE_HEADERS,
      },
    },
    async ({ actor, query }, reply) => paged(reply, await webhooks.search(actor, query)),
  );

  app.get(
    '/webhooks/deliveries/:delivery_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_delivery',
        summary: 'Get delivery',
        description: 'The delivery with its request and all its attempts.',
        tags,
        params: DeliveryPath,
        response: { 200: DeliveryDetail },
        failures: missing,
      },
    },
    ({ actor, params }) => webhooks.get(actor, params.delivery_id),
  );

  app.post(
    '/webhooks/deliveries/:delivery_id/redeliver',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'redeliver',
        summary: 'Redeliver',
        description: 'Sends the delivery again with the same id, and retries it like a new one.',
        tags,
        params: DeliveryPath,
        response: { 200: Delivery },
        failures: { ...missing, ...off },
      },
    },
    ({ actor, params }) => webhooks.redeliver(actor, params.delivery_id),
  );

  app.post(
    '/webhooks/test',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'test_webhook',
        summary: 'Test webhook',
        description: 'Sends one sample to the URL, signed like a real delivery, and returns the outcome.',
        tags,
        body: WebhookTest,
        example: { url: 'https://example.com/hook' },
        response: { 200: { content: { 'application/json': { schema: DeliveryDetail as z.ZodType } } } },
        failures: off,
      },
    },
    ({ actor, body }, reply) =>
      replies.sendKeepAliveJson(reply, {}, async (signal) =>
        toJson(await webhooks.test(actor, body, signal)),
      ),
  );
}
