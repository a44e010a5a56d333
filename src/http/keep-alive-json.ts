import type { FastifyReply } from 'fastify';
import { ServerError, Unavailable } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { isTemporary } from '../core/failure-class.ts';
import { toJson } from '../core/json.ts';
import type { Logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';
import type { CallerWatch } from './caller-watch.ts';
import type { Connection, Connections } from './connections.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Proxies and clients time out on an idle connection; whitespace before JSON is insignificant (contract §4). */
const KEEP_ALIVE_MS = 5_000;

export interface KeepAliveOptions {
  /** Called if the client disconnects first. */
  readonly onDisconnect?: (() => Promise<void>) | undefined;
  /** How long a closing server waits for the result, ms; set where the client could not retry the request. */
  readonly closing_ms?: number | undefined;
  /** Body for an error after the headers were sent, in another protocol. */
  readonly errorBody?: (error: ServerError) => object;
}

/** Awaits `result`, a JSON text. Resolves to what is still to be sent of it, `undefined` if that is nothing. */
export type SendKeepAliveJson = (
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  result: (signal: AbortSignal) => Promise<string | Buffer>,
  options?: KeepAliveOptions,
) => Promise<string | Buffer | undefined>;

/**
 * Sends a slow reply. A failure before the first newline has its own status; after it, the failure is the body.
 * 503 and 507 then break the connection, because a body would report a failed run although the run continues. A
 * caller that loses access by then gets the error as the body.
 */
export function keepAliveJsonSender(
  connections: Connections,
  callers: CallerWatch,
  logger: Logger,
  keep_alive_ms = KEEP_ALIVE_MS,
): SendKeepAliveJson {
  return async (reply, headers, result, { onDisconnect, closing_ms = 0, errorBody } = {}) => {
    using connection = connections.open(reply, onDisconnect, () => closing_ms);
    let watch: Disposable | undefined;
    const { raw } = reply.headers(headers).type(JSON_TYPE);
    const keepAlive = every(keep_alive_ms, () => {
      if (connection.signal.aborted) return;
      if (!raw.headersSent) {
        // Only now: watching would cost a fifth of a short wait.
        watch = callers.watch(reply.request, connection.end);
        raw.writeHead(200, reply.hijack().getHeaders() as Record<string, string>);
      }
      raw.write('\n');
    });
    const [outcome] = await Promise.allSettled([result(connection.signal)]);
    // Serializing may have blocked the event loop, and sending will.
    await yieldToEventLoop();
    keepAlive[Symbol.dispose]();
    watch?.[Symbol.dispose]();
    const { reason } = connection.signal;
    if (reason instanceof ServerError) {
      raw.end(toJson((errorBody ?? refusalBody)(reason)));
      return undefined;
    }
    if (connection.signal.aborted) return abortReply(reply, connection);
    if (outcome.status === 'fulfilled' && raw.headersSent)
      await storeAnswer(reply, String(outcome.value), logger);
    if (outcome.status === 'fulfilled' && !raw.headersSent) return outcome.value;
    if (outcome.status === 'fulfilled') raw.end(outcome.value);
    else if (raw.headersSent) sendFailure(outcome.reason, reply, logger, errorBody);
    else throw outcome.reason;
    return undefined;
  };
}

/** The client gets the reply even if it cannot be stored: a retry would wait for the same run. */
function storeAnswer(reply: FastifyReply, text: string, logger: Logger): Promise<void> {
  return reply.server.storeAnswer(reply, text).catch((error: unknown) => {
    logger.error('cannot store the reply of a request with an Idempotency-Key', {
      request_id: reply.request.id,
      error,
    });
  });
}

function refusalBody({ status, message }: ServerError): object {
  return { __error__: { error: 'HTTPException', message: `${status}: ${message}` } };
}

/** A broken reply makes the client reconnect at `Location`; one that has not begun can still report why. */
function abortReply(reply: FastifyReply, connection: Connection): undefined {
  if (!reply.raw.headersSent && !connection.clientDisconnected)
    throw new Unavailable('The server is shutting down');
  reply.hijack().raw.destroy();
}

function sendFailure(
  error: unknown,
  { raw, request }: FastifyReply,
  logger: Logger,
  errorBody: KeepAliveOptions['errorBody'],
): void {
  const isAway = isTemporary(error);
  if (isAway || !(error instanceof ServerError))
    logger.error('request failed after its headers were sent', { request_id: request.id, error });
  if (isAway) raw.destroy();
  else if (errorBody && error instanceof ServerError) raw.end(toJson(errorBody(error)));
  else raw.end(failureText(error));
}

/** Body for a failed run (contract §4). */
function failureText(error: unknown): string {
  const { name, message } =
    error instanceof ServerError ? error : { name: 'InternalServerError', message: 'Internal Server Error' };
  return toJson({ __error__: { error: name, message } });
}
