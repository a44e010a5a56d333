import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { RunPath, StatelessRunPath } from '../../schemas/request-params.ts';
import { LogsQuery, RunLogLine, RunLogsHeaders, RunLogsQuery } from '../../schemas/run-logs.ts';
import type { NewestLogService } from '../../services/runs/newest-logs.ts';
import type { RunLogService } from '../../services/runs/run-logs.ts';
import { EVENT_STREAM } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import type { RunReplies } from '../run-replies.ts';
import { parseLastEventId } from '../sse.ts';

const LOGS = {
  querystring: RunLogsQuery,
  headers: RunLogsHeaders,
  response: { 200: z.array(RunLogLine) },
  failures: { 404: 'Run not found' },
};

const ABOUT =
  'Lines that the code of the run printed, by `console` or to stdout and stderr, with the node and the source line: the last ' +
  '1,000. With `stream`, or for a client that accepts `text/event-stream`, also future lines as `log` events, until `end`.';

export function runLogRoutes(
  server: FastifyInstance,
  { runLogs, replies }: { runLogs: RunLogService; replies: Pick<RunReplies, 'sendEvents'> },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  async function send(request: LogsRequest, reply: FastifyReply, thread_id?: string) {
    const { actor, query, headers, params } = request;
    const { run_id } = params;
    if (!query.stream && !headers.accept?.includes('text/event-stream'))
      return runLogs.list(actor, thread_id, run_id, query);
    // A reconnecting client sends the id of the last line it received.
    const last = parseLastEventId(headers['last-event-id']);
    const after = last === 'now' ? query.after : last;
    const frames = (signal: AbortSignal) =>
      runLogs.stream(actor, thread_id, run_id, { after, limit: query.limit }, signal);
    return replies.sendEvents(reply, { headers: {}, resumable: true, frames });
  }

  app.get(
    '/threads/:thread_id/runs/:run_id/logs',
    {
      config: { scope: 'read' },
      schema: {
        ...{ operationId: 'get_run_logs', summary: 'Get run logs', description: ABOUT },
        tags: [TAGS.runs],
        params: RunPath,
        ...LOGS,
      },
      exposeHeadRoute: false,
    },
    (request, reply) => send(request, reply, request.params.thread_id),
  );

  app.get(
    '/runs/:run_id/logs',
    {
      config: { scope: 'read' },
      schema: {
        ...{ operationId: 'get_stateless_run_logs', summary: 'Get run logs', description: ABOUT },
        tags: [TAGS.stateless],
        params: StatelessRunPath,
        ...LOGS,
      },
      exposeHeadRoute: false,
    },
    (request, reply) => send(request, reply),
  );
}

export function newestLogRoutes(
  server: FastifyInstance,
  { newestLogs, replies }: { newestLogs: NewestLogService; replies: Pick<RunReplies, 'sendEvents'> },
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/system/logs',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'watch_logs',
        summary: 'Watch logs',
        description:
          'Streams the lines that the code of all runs prints, as they are stored, each as a `log` event. The stream never ends.',
        tags: [TAGS.system],
        querystring: LogsQuery,
        response: { 200: EVENT_STREAM },
        failures: { 403: 'Forbidden' },
      },
      exposeHeadRoute: false,
    },
    async ({ actor, query }, reply) => {
      const frames = (signal: AbortSignal) => newestLogs.follow(actor, query, signal);
      await replies.sendEvents(reply, { headers: {}, resumable: false, frames });
    },
  );
}

interface LogsRequest extends Pick<FastifyRequest, 'actor'> {
  readonly params: { readonly run_id: string };
  readonly query: RunLogsQuery;
  readonly headers: RunLogsHeaders;
}
