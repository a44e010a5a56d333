import { NotFound, ServerError } from '../../core/errors.ts';
import type { ErrorCode, ProtocolError } from '../../schemas/event-streaming.ts';

/** A command that cannot be carried out, in the protocol's own words (CONTRACT §7). */
export class CommandError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'CommandFailed';
    this.code = code;
  }
}

/** What the client is told; undefined for a mistake of ours, which is nobody's business but the log's. */
export function toProtocolError(id: number | null, error: unknown): ProtocolError | undefined {
  if (error instanceof CommandError) return { type: 'error', id, error: error.code, message: error.message };
  if (!(error instanceof ServerError)) return undefined;
  const code = error.status === 403 ? 'permission_denied' : 'unknown_error';
  return { type: 'error', id, error: code, message: `${error.status}: ${error.message}` };
}

/** Runs a verb of another service whose `NotFound` has a code of its own here. */
export async function notFoundAs<T>(code: ErrorCode, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof NotFound) throw new CommandError(code, error.message);
    throw error;
  }
}
