import type { FastifyReply, FastifyRequest } from 'fastify';
import { ContentTooLarge } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';

const TYPES = 'type.googleapis.com/google.rpc';

/** Why a request was refused, for programs. */
export function errorInfo(reason: string): JsonObject {
  return { '@type': `${TYPES}.ErrorInfo`, reason, domain: 'a2a-protocol.org', metadata: {} };
}

/** A message that is too large, as JSON-RPC says it; its id was not read. */
export function contentTooLargeRpc(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof ContentTooLarge)) throw error;
  const { status, message } = error;
  const data = [errorInfo('CONTENT_TOO_LARGE')];
  return reply.code(status).send({ jsonrpc: '2.0', id: null, error: { code: -32600, message, data } });
}

/** The same in the form of Google's APIs. */
export function contentTooLargeRest(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof ContentTooLarge)) throw error;
  const { status: code, message } = error;
  const details = [errorInfo('CONTENT_TOO_LARGE')];
  return reply.code(code).send({ error: { code, status: 'INVALID_ARGUMENT', message, details } });
}

/** The details of an error with all that the protocol asks for; `isInvalid`: parameters are wrong, and it says which. */
export function completeDetails(
  details: readonly unknown[],
  { message, isInvalid }: { message: string; isInvalid: boolean },
): JsonObject[] {
  const whole = details.filter(isObject).map((detail) => ({
    ...detail,
    ...('reason' in detail ? { metadata: detail['metadata'] ?? {} } : {}),
  }));
  return isInvalid ? [...whole, badRequest(message)] : whole;
}

/** Our messages begin with the name of the field. */
function badRequest(description: string): JsonObject {
  const field = /^([\w.]+) (must|needs|is)/.exec(description)?.[1] ?? '';
  return { '@type': `${TYPES}.BadRequest`, fieldViolations: [{ field, description }] };
}
