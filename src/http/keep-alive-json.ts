import type { FastifyReply } from 'fastify';
import { ServerError, Unavailable } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { toJson } from '../core/json.ts';
import type { Logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';
import type { Connection, Connections } from './connections.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Proxies and clients give up on a silent connection; white space before JSON means nothing (CONTRACT §4). */
const KEEP_ALIVE_MS = 5_000;

/**
 * Waits for `result`, JSON text. `onDisconnect` is called when the client leaves before it. Resolves to the text that is
 * still to be sent, or to undefined when all is sent.
 */
export type SendKeepAliveJson = (
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  result: (signal: AbortSignal) => Promise<string>,
  onDisconnect?: () => Promise<void>,
) => Promise<string | undefined>;

/** Sends what may take long. Until the first newline a failure has a status of its own; after it, it is the body. */
export function keepAliveJsonSender(
  connections: Connections,
  logger: Logger,
  keep_alive_ms = KEEP_ALIVE_MS,
): SendKeepAliveJson {
  return async (reply, headers, result, onDisconnect) => {
    using connection = connections.open(reply, onDisconnect);
    const { raw } = reply.headers(headers).type(JSON_TYPE);
    const keepAlive = every(keep_alive_ms, () => {
      if (connection.signal.aborted) return;
      if (!raw.headersSent) raw.writeHead(200, reply.hijack().getHeaders() as Record<string, string>);
      raw.write('\n');
    });
    const [outcome] = await Promise.allSettled([result(connection.signal)]);
    // To make the text may have taken long, and so does to send it.
    await yieldToEventLoop();
    keepAlive[Symbol.dispose]();
    if (connection.signal.aborted) return abortReply(reply, connection);
    if (outcome.status === 'fulfilled' && !raw.headersSent) return outcome.value;
    if (outcome.status === 'fulfilled') raw.end(outcome.value);
    else if (raw.headersSent) raw.end(failureText(outcome.reason, reply, logger));
    else throw outcome.reason;
    return undefined;
  };
}

/** A reply that breaks makes the client ask again at `Location`; one that has not begun can say why. */
function abortReply(reply: FastifyReply, connection: Connection): undefined {
  if (!reply.raw.headersSent && !connection.clientDisconnected)
    throw new Unavailable('The server is shutting down');
  reply.hijack().raw.destroy();
}

/** The form in which the result of a failed run is sent (CONTRACT §4). */
function failureText(error: unknown, reply: FastifyReply, logger: Logger): string {
  if (error instanceof ServerError)
    return toJson({ __error__: { error: error.name, message: error.message } });
  logger.error('request failed after its headers were sent', { request_id: reply.request.id, error });
  return toJson({ __error__: { error: 'InternalServerError', message: 'Internal Server Error' } });
}
