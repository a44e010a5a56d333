import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Actor } from '../auth/actor.ts';
import type { Logger } from '../core/logger.ts';
import type { Run } from '../schemas/runs.ts';
import type { JoinOptions } from '../services/runs/run-streams.ts';
import type { RunService } from '../services/runs/runs.ts';
import { trackConnections } from './connections.ts';
import { keepAliveJsonSender } from './keep-alive-json.ts';
import { eventPusher, eventSender } from './sse.ts';

type Headers = Readonly<Record<string, string>>;

/** What happens to a run when the client that waits for it goes away (CONTRACT §3). */
export type OnDisconnect = 'cancel' | 'continue' | null | undefined;

/** Python's client for A2A gives up after five silent seconds. */
const SHORT_KEEP_ALIVE_MS = 3_000;

export type RunReplies = ReturnType<typeof runReplies>;

/** The replies that last as long as a run: its events, or its result. */
export function runReplies(server: FastifyInstance, { runs, logger }: { runs: RunService; logger: Logger }) {
  const connections = trackConnections(server, logger);
  const sendEvents = eventSender(connections, logger);
  const sendKeepAliveJson = keepAliveJsonSender(connections, logger);
  /** The run without what it was given: however many wait however long for its end, they hold nothing large. */
  function withoutInput({ request }: FastifyReply, { kwargs, ...run }: Run): Run {
    server.bodies.release(request);
    return { ...run, kwargs: { ...kwargs, input: null, command: null } };
  }
  const disconnectAction = (run: Run, what: OnDisconnect) =>
    what === 'cancel' ? () => runs.abandon(run) : undefined;

  return {
    sendEvents,
    pushEvents: eventPusher(connections, logger),
    sendKeepAliveJson,
    /** For clients that wait no longer than until others hear the next sign of life. */
    withShortKeepAlive: {
      sendEvents: eventSender(connections, logger, SHORT_KEEP_ALIVE_MS),
      sendKeepAliveJson: keepAliveJsonSender(connections, logger, SHORT_KEEP_ALIVE_MS),
    },

    /** Every event of a run that was just made. */
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

    /** The events that a client has not seen. */
    joinStream(
      reply: FastifyReply,
      { actor, run, headers, on_disconnect, ...options }: JoinRequest & JoinOptions,
    ): Promise<void> {
      const frames = (signal: AbortSignal) =>
        runs.joinStream(actor, run.thread_id, run.run_id, options, signal);
      return sendEvents(
        reply,
        { headers, resumable: isResumable(run), frames },
        disconnectAction(run, on_disconnect),
      );
    },

    /** The result of a run that was just made. */
    wait(reply: FastifyReply, made: Run, headers: Headers, on_disconnect: OnDisconnect) {
      const run = withoutInput(reply, made);
      return sendKeepAliveJson(
        reply,
        headers,
        (signal) => runs.result(run, signal),
        disconnectAction(run, on_disconnect),
      );
    },

    /** The result of a run in any moment of its life. */
    join(reply: FastifyReply, { actor, run, headers, on_disconnect }: JoinRequest) {
      const result = (signal: AbortSignal) => runs.join(actor, run.thread_id, run.run_id, signal);
      return sendKeepAliveJson(reply, headers, result, disconnectAction(run, on_disconnect));
    },
  };
}

interface StreamOptions {
  readonly run: Run;
  readonly headers: Headers;
  readonly on_disconnect: OnDisconnect;
  /** Only events of these graphs. */
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
