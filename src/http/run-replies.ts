import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Actor } from '../auth/actor.ts';
import type { Logger } from '../core/logger.ts';
import type { Run } from '../schemas/runs.ts';
import type { JoinOptions } from '../services/runs/run-streams.ts';
import type { RunService } from '../services/runs/runs.ts';
import { callerWatch } from './caller-watch.ts';
import { trackConnections } from './connections.ts';
import { keepAliveJsonSender } from './keep-alive-json.ts';
import type { AuthOptions } from './plugins/auth.ts';
import { eventPusher, eventSender } from './sse.ts';

type Headers = Readonly<Record<string, string>>;

/** What to do with a run when the waiting client disconnects (contract §3). */
export type OnDisconnect = 'cancel' | 'continue' | null | undefined;

/** The Python A2A client times out after 5 s of silence. */
const SHORT_KEEP_ALIVE_MS = 3_000;

/**
 * How long a closing server waits for a cancelled run to stop, ms: another process may only learn of it with its next
 * heartbeat.
 */
const STOP_MS = 6_000;

/**
 * How long a closing server waits for the result of a run, ms: another process may be about to finish it, and official
 * clients do not repeat the request. Shorter than the interval of keep-alives, so that 503 can still be answered.
 */
const RESULT_MS = 4_000;

export type RunReplies = ReturnType<typeof runReplies>;

/** Replies that last as long as a run: its event stream, or its result. */
export function runReplies(
  server: FastifyInstance,
  { runs, auth, logger }: { runs: RunService; auth: AuthOptions; logger: Logger },
) {
  const connections = trackConnections(server, logger);
  const callers = callerWatch({ ...auth, logger });
  const sendEvents = eventSender(connections, callers, logger);
  const sendKeepAliveJson = keepAliveJsonSender(connections, callers, logger);
  /** Drops the input from the run and the body budget: a long wait must not pin large payloads in memory. */
  function withoutInput({ request }: FastifyReply, { kwargs, ...run }: Run): Run {
    server.bodies.release(request);
    return { ...run, kwargs: { ...kwargs, input: null, command: null } };
  }
  const disconnectAction = (run: Run, what: OnDisconnect) =>
    what === 'cancel' ? () => runs.abandon(run) : undefined;

  return {
    callers,
    sendEvents,
    pushEvents: eventPusher(connections, callers, logger),
    sendKeepAliveJson,
    /** For clients that time out before the default keep-alive. */
    withShortKeepAlive: {
      sendEvents: eventSender(connections, callers, logger, SHORT_KEEP_ALIVE_MS),
      sendKeepAliveJson: keepAliveJsonSender(connections, callers, logger, SHORT_KEEP_ALIVE_MS),
    },

    /** Replies when a cancelled run has stopped. A retry would find no run to cancel. */
    cancelled(reply: FastifyReply, headers: Headers, cancel: (signal: AbortSignal) => Promise<string>) {
      return sendKeepAliveJson(reply, headers, cancel, { closing_ms: STOP_MS });
    },

    /** Streams all events of a new run. */
    stream(
      reply: FastifyReply,
      { headers, on_disconnect, namespaces, ...made }: StreamOptions,
    ): Promise<void> {
      const run = withoutInput(reply, made.run);
      const frames = (signal: AbortSignal) => runs.follow(run, signal, namespaces);
      return sendEvents(
        reply,
        { headers, resumable: isResumable(run), frames },
        disconnectAction(run, on_disconnect),
      );
    },

    /** Streams the events that the client has not received. */
    async joinStream(
      reply: FastifyReply,
      { actor, run, headers, on_disconnect, ...options }: JoinRequest & JoinOptions,
    ): Promise<void> {
      if (on_disconnect === 'cancel') await runs.authorizeAbandoning(actor, run);
      const frames = (signal: AbortSignal) =>
        runs.joinStream(actor, run.thread_id, run.run_id, options, signal);
      return sendEvents(
        reply,
        { headers, resumable: isResumable(run), frames },
        disconnectAction(run, on_disconnect),
      );
    },

    /** Replies with the result of a new run. */
    wait(reply: FastifyReply, made: Run, headers: Headers, on_disconnect: OnDisconnect) {
      const run = withoutInput(reply, made);
      const isRepeated = reply.request.idempotencyContext?.run !== undefined;
      return sendKeepAliveJson(
        reply,
        headers,
        (signal) => (isRepeated ? runs.resultAgain(run, signal) : runs.result(run, signal)),
        { onDisconnect: disconnectAction(run, on_disconnect), closing_ms: RESULT_MS },
      );
    },

    /** Replies with the result of a run in any status. */
    async join(reply: FastifyReply, { actor, run, headers, on_disconnect }: JoinRequest) {
      if (on_disconnect === 'cancel') await runs.authorizeAbandoning(actor, run);
      const result = (signal: AbortSignal) => runs.join(actor, run.thread_id, run.run_id, signal);
      return sendKeepAliveJson(reply, headers, result, {
        onDisconnect: disconnectAction(run, on_disconnect),
      });
    },
  };
}

interface StreamOptions {
  readonly run: Run;
  readonly headers: Headers;
  readonly on_disconnect: OnDisconnect;
  /** Only events of these subgraph namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

interface JoinRequest {
  readonly actor: Actor;
  readonly run: Run;
  readonly headers: Headers;
  readonly on_disconnect: OnDisconnect;
}

function isResumable(run: Run): boolean {
  return run.kwargs.resumable;
}
