import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  InterruptAnswer,
  InterruptAnswerSearch,
  InterruptFilter,
  InterruptSearch,
  PendingInterrupt,
} from '../../schemas/interrupts.ts';
import type { InterruptService } from '../../services/threads/interrupts.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { CURSOR_HEADERS, pagedByCursor } from '../reply.ts';

const tags = [TAGS.threads];
const example = { thread_metadata: { user: 'ada' } };

/** Pending interrupts and past answers of all threads. */
export function interruptRoutes(server: FastifyInstance, { interrupts }: { interrupts: InterruptService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/interrupts/search',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_interrupts',
        summary: 'Search interrupts',
        description:
          'Pending interrupts of all threads. Answer with a run whose `command.resume` is an object by interrupt id. A page may hold fewer than `limit` items although more follow: only the last page has no `X-Pagination-Next`.',
        tags,
        body: InterruptSearch,
        example: { ...example, limit: 10 },
        response: { 200: z.array(PendingInterrupt) },
        response_headers: CURSOR_HEADERS,
      },
    },
    async (request, reply) => pagedByCursor(reply, await interrupts.search(request.actor, request.body)),
  );

  app.post(
    '/interrupts/answers/search',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_interrupt_answers',
        summary: 'Search answers to interrupts',
        description:
          'Questions and answers of all threads: who answered, when, and with which run. An answer is deleted with its run. A page may hold fewer than `limit` items although more follow: only the last page has no `X-Pagination-Next`.',
        tags,
        body: InterruptAnswerSearch,
        example: { ...example, limit: 10 },
        response: { 200: z.array(InterruptAnswer) },
        response_headers: CURSOR_HEADERS,
      },
    },
    async (request, reply) =>
      pagedByCursor(reply, await interrupts.searchAnswers(request.actor, request.body)),
  );

  app.post(
    '/interrupts/count',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'count_interrupts',
        summary: 'Count interrupts',
        description: 'Counts the pending interrupts of all threads.',
        tags,
        body: InterruptFilter,
        example,
        response: { 200: z.int() },
      },
    },
    (request) => interrupts.count(request.actor, request.body),
  );
}
