import type { FastifyReply, FastifyRequest } from 'fastify';
import { ContentTooLarge, type ServerError } from '../../../core/errors.ts';
import { isObject, type JsonObject } from '../../../core/json.ts';

const TYPES = 'type.googleapis.com/google.rpc';

/** Machine-readable reason of an error: `google.rpc.ErrorInfo`. */
export function errorInfo(reason: string): JsonObject {
  return { '@type': `${TYPES}.ErrorInfo`, reason, domain: 'a2a-protocol.org', metadata: {} };
}

/** Renders `ContentTooLarge` as a JSON-RPC error; the id is null because the body was not parsed. */
export function contentTooLargeRpc(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof ContentTooLarge)) throw error;
  const { status, message } = error;
  const data = [errorInfo('CONTENT_TOO_LARGE')];
  return reply.code(status).send({ jsonrpc: '2.0', id: null, error: { code: -32600, message, data } });
}

/** Renders `ContentTooLarge` as a Google API error (`google.rpc.Status`). */
export function contentTooLargeRest(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof ContentTooLarge)) throw error;
  const { status: code, message } = error;
  const details = [errorInfo('CONTENT_TOO_LARGE')];
  return reply.code(code).send({ error: { code, status: 'INVALID_ARGUMENT', message, details } });
}

/** Last message of a stream whose caller loses access while reading, as a Google API error. */
export function refusalOf({ status: code, message }: ServerError): JsonObject {
  const status = code === 401 ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED';
  return { code, status, message, details: [errorInfo(status)] };
}

/** Completes error details as the protocol requires; `isInvalid` adds the field violation named in the message. */
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

/** `google.rpc.BadRequest`. Validation messages start with the field name. */
function badRequest(description: string): JsonObject {
  const field = /^([\w.]+) (must|needs|is)/.exec(description)?.[1] ?? '';
  return { '@type': `${TYPES}.BadRequest`, fieldViolations: [{ field, description }] };
}
