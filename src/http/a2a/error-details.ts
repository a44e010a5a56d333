import { isObject, type JsonObject } from '../../core/json.ts';

const TYPES = 'type.googleapis.com/google.rpc';

/** Why a request was refused, for programs. */
export function errorInfo(reason: string): JsonObject {
  return { '@type': `${TYPES}.ErrorInfo`, reason, domain: 'a2a-protocol.org', metadata: {} };
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
