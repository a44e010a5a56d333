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
        summary: 'Watch the log of the server',
        description:
          'Sends the last lines that the process that answers wrote to its log, up to 1,000, and future ones: an event `log` for each. The stream never ends.',
        tags: [TAGS.system],
        querystring: ServerLogQuery,
        headers: ServerLogHeaders,
        response: { 200: EVENT_STREAM },
        failures: {
          403: 'Logs of the server are for callers without limits, such as a key with the scope "admin".',
          404: 'The log of this server is not its own.',
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
