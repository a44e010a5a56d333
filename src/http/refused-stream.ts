import type { FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../core/errors.ts';

/**
 * An error handler for routes that join a stream. Where users have rules, a stream that is not there or not theirs is
 * an `error` event, as the official server and its clients have it (CONTRACT §10); else a plain 404.
 */
export function refuseInStream(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof NotFound) || request.actor.rules.length === 0) throw error;
  const data = JSON.stringify({ error: 'HTTPException', message: `${error.status}: ${error.message}` });
  reply.type('text/event-stream; charset=utf-8').send(`event: error\r\ndata: ${data}\r\n\r\n`);
}
