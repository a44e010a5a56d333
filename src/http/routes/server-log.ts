import type { FastifyInstance } from 'fastify';
import { ServerLogHeaders, ServerLogQuery } from '../../schemas/server-log.ts';
import type { ServerLogService } from '../../services/server-log.ts';
import { EVENT_STREAM } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import type { RunReplies } from '../run-replies.ts';
import { parseLastEventId } from '../sse.ts';

export function serverLogRoutes(
  server: FastifyInstance,
  { serverLog, replies }: { serverLog: ServerLogService; replies: Pick<RunReplies, 'sendEvents'> },
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/system/server-logs',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'watch_server_logs',
        summary: 'Watch server log',
        description:
          'Streams the log of the process that answers: up to 1,000 past lines, then future ones, each as a `log` event. The stream never ends.',
        tags: [TAGS.system],
        querystring: ServerLogQuery,
        headers: ServerLogHeaders,
        response: { 200: EVENT_STREAM },
        failures: {
          403: 'Logs of the server are available only to unrestricted callers, such as a key with the scope "admin".',
          404: 'This server does not write its own log: …',
        },
      },
      exposeHeadRoute: false,
    },
    async ({ actor, query, headers }, reply) => {
      const last = parseLastEventId(headers['last-event-id']);
      const frames = (signal: AbortSignal) =>
        serverLog.follow(actor, query, last === 'now' ? 0 : last, signal);
      await replies.sendEvents(reply, { headers: {}, resumable: true, frames });
    },
  );
}
