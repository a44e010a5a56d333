import { z } from 'zod';
import {
  BadRequest,
  ClockBehind,
  Conflict,
  ContentTooLarge,
  Forbidden,
  InsufficientStorage,
  InvalidInput,
  LeaseLost,
  NotFound,
  ProjectFailure,
  ServerError,
  StorageBusy,
  StorageRefused,
  StorageUnavailable,
  Unauthorized,
  Unavailable,
  WritesLost,
} from '../../core/errors.ts';
import { errorParts, isErrorLike, toError, tryOrUndefined } from '../../core/failure.ts';
import { MAX_ERROR_BYTES, truncateText } from '../../core/text.ts';
import { ResumeRefused } from '../../graphs/runtime/resume-refused.ts';
import { ResumeRefusal } from '../../schemas/threads.ts';

/** An error on the wire. A cause is nested at most `MAX_CAUSES` deep. */
export interface WireError {
  /** Class name. */
  readonly name: string;
  readonly message: string;
  /** An instance of one of the server's classes, not an error of the project that has the same name. */
  readonly is_ours?: true | undefined;
  readonly stack?: string | undefined;
  /** HTTP status of an error that a client may see as it is. */
  readonly status?: number | undefined;
  /** Response headers of such an error. */
  readonly headers?: Record<string, string> | undefined;
  readonly code?: string | undefined;
  /** Of a `ResumeRefused`. */
  readonly refusal?: ResumeRefusal | undefined;
  readonly cause?: WireError | undefined;
}

export const WireErrorSchema: z.ZodType<WireError> = z.lazy(() =>
  z.object({
    name: z.string(),
    message: z.string(),
    is_ours: z.literal(true).optional(),
    stack: z.string().optional(),
    status: z.number().int().min(200).max(599).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    code: z.string().optional(),
    refusal: ResumeRefusal.optional(),
    cause: WireErrorSchema.optional(),
  }),
);

const MAX_CAUSES = 8;

/** Any thrown value as a `WireError`. Never throws. Texts are bounded, not redacted: the other side does that. */
export function toWireError(thrown: unknown, causes = MAX_CAUSES): WireError {
  const error = toError(thrown);
  const { error: name, message } = errorParts(error);
  const cause = tryOrUndefined(() => error.cause);
  const { code } = tryOrUndefined(() => ({ code: (error as { code?: unknown }).code })) ?? {};
  return {
    name,
    message: truncateText(message, MAX_ERROR_BYTES),
    stack: stackOf(error),
    ...(isOurs(error) && { is_ours: true }),
    ...(error instanceof ServerError && { status: error.status, headers: { ...error.headers } }),
    ...(typeof code === 'string' && { code }),
    ...(error instanceof ResumeRefused && { refusal: error.refusal }),
    ...(isErrorLike(cause) && causes > 0 && { cause: toWireError(cause, causes - 1) }),
  };
}

function stackOf(error: Error): string | undefined {
  const stack = tryOrUndefined(() => error.stack as unknown);
  return typeof stack === 'string' ? truncateText(stack, 4 * MAX_ERROR_BYTES) : undefined;
}

/** Classes that the server tells apart by `instanceof`. */
const KNOWN: Readonly<Record<string, new (message: string) => Error>> = {
  BadRequest,
  Conflict,
  ContentTooLarge,
  Forbidden,
  InsufficientStorage,
  InvalidInput,
  LeaseLost,
  NotFound,
  ProjectFailure,
  StorageBusy,
  StorageUnavailable,
  Unauthorized,
  Unavailable,
  WritesLost,
};

function isOurs(error: Error): boolean {
  const classes = [ServerError, LeaseLost, StorageRefused, ResumeRefused];
  return classes.some((Known) => error instanceof Known);
}

/** An error of another class with a status, such as an `HTTPException` of a custom handler. */
class OtherServerError extends ServerError {
  readonly status: number;
  override readonly headers: Readonly<Record<string, string>>;

  constructor({ message, status, headers }: WireError & { status: number }) {
    super(message);
    this.status = status;
    this.headers = headers ?? {};
  }
}

/** Seconds; 0 if the error names no delay. */
function retryAfter({ headers }: WireError): number {
  return Number(headers?.['retry-after']) || 0;
}

/** The error of the other side, with its class where that matters, and its own name, message, stack and cause. */
export function fromWireError(wire: WireError): Error {
  const { name, message, status, stack, code, cause } = wire;
  const error = Object.assign(errorOf({ ...wire, status }), { message, name });
  if (code !== undefined) Object.assign(error, { code });
  if (stack !== undefined)
    Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true });
  if (cause !== undefined)
    Object.defineProperty(error, 'cause', { value: fromWireError(cause), configurable: true });
  return error;
}

function errorOf(wire: WireError): Error {
  if (!wire.is_ours) return new Error(wire.message);
  if (wire.refusal) return new ResumeRefused(wire.name, wire.message, wire.refusal);
  const Known = Object.hasOwn(KNOWN, wire.name) ? KNOWN[wire.name] : undefined;
  if (Known) return new Known(wire.message);
  if (wire.name === 'StorageRefused') return new StorageRefused(new Error(wire.message));
  if (wire.status === undefined) return new Error(wire.message);
  // Another host than the one that executes: without its charge, for a run that only asked it.
  if (wire.name === 'HostLost') return new Unavailable(wire.message);
  if (wire.name === 'ClockBehind') return new ClockBehind(wire.message, 1000 * retryAfter(wire));
  return new OtherServerError({ ...wire, status: wire.status });
}
