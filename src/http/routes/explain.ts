import type { FastifyInstance } from 'fastify';
import { CronExplanation } from '../../schemas/crons.ts';
import { CronPath, DeliveryPath, EXAMPLES, ThreadPath } from '../../schemas/request-params.ts';
import { ThreadExplanation } from '../../schemas/thread-explanation.ts';
import { DeliveryExplanation } from '../../schemas/webhooks.ts';
import type { CronExplainService } from '../../services/crons/cron-explain.ts';
import type { ThreadExplainService } from '../../services/threads/thread-explain.ts';
import type { DeliveryExplainService } from '../../services/webhooks/delivery-explain.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

export function threadExplainRoutes(
  server: FastifyInstance,
  { threadExplain }: { threadExplain: ThreadExplainService },
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/threads/:thread_id/explain',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'explain_thread',
        summary: 'Explain thread',
        description:
          'Why the thread has its status: which run keeps it busy, what is queued behind it, which interrupts wait for an answer.',
        tags: [TAGS.threads],
        params: ThreadPath,
        response: { 200: ThreadExplanation },
        failures: { 404: `Thread with ID ${EXAMPLES.thread_id} not found` },
      },
    },
    ({ actor, params }) => threadExplain.explain(actor, params.thread_id),
  );
}

export function cronExplainRoutes(
  server: FastifyInstance,
  { cronExplain }: { cronExplain: CronExplainService },
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/runs/crons/:cron_id/explain',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'explain_cron',
        summary: 'Explain cron',
        description: 'When the cron fires next, or why it does not, and the outcomes of its last ticks.',
        tags: [TAGS.crons],
        params: CronPath,
        response: { 200: CronExplanation },
        failures: { 404: 'Not Found' },
      },
    },
    ({ actor, params }) => cronExplain.explain(actor, params.cron_id),
  );
}

export function deliveryExplainRoutes(
  server: FastifyInstance,
  { deliveryExplain }: { deliveryExplain: DeliveryExplainService },
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/webhooks/deliveries/:delivery_id/explain',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'explain_delivery',
        summary: 'Explain delivery',
        description:
          'Why the delivery has not arrived: what it waits for, when the next attempt is due, and the last response of the receiver.',
        tags: [TAGS.webhooks],
        params: DeliveryPath,
        response: { 200: DeliveryExplanation },
        failures: { 404: 'Delivery … not found' },
      },
    },
    ({ actor, params }) => deliveryExplain.explain(actor, params.delivery_id),
  );
}
