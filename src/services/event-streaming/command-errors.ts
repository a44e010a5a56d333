import { NotFound, ServerError } from '../../core/errors.ts';
import type { ErrorCode, ProtocolError } from '../../schemas/event-streaming.ts';

/** A failed command with its protocol error code (contract §7). */
export class CommandError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'CommandError';
    this.code = code;
  }
}

/** Protocol error for the client; `undefined` for an internal error, which is only logged. */
export function toProtocolError(id: number | null, error: unknown): ProtocolError | undefined {
  if (error instanceof CommandError) return { type: 'error', id, error: error.code, message: error.message };
  if (!(error instanceof ServerError)) return undefined;
  const code = error.status === 403 ? 'permission_denied' : 'unknown_error';
  return { type: 'error', id, error: code, message: `${error.status}: ${error.message}` };
}

/** Maps `NotFound` of another service to a specific protocol code. */
export async function notFoundAs<T>(code: ErrorCode, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof NotFound) throw new CommandError(code, error.message);
    throw error;
  }
}
