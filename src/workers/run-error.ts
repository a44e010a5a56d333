import { ServerError } from '../core/errors.ts';
import { runError } from '../graphs/wire.ts';
import type { RunError } from '../schemas/threads.ts';

/** `user:password@` of a URL in a message, such as a database driver's. */
const CREDENTIALS = /(\w+:\/\/)[^\s/@]+@/g;
/** An absolute path with folders; its last part is enough to find the file, and says nothing of the machine. */
const ABSOLUTE_PATH = /(?<![\w:/.])(?:file:\/\/)?\/(?:[\w@.+-]+\/){2,}([\w@.+-]+)/g;

/** What a client may know of a failure: its class and its text, without credentials and places (DESIGN §4, 8). */
export function runErrorOf(failure: unknown): RunError {
  const { error, message } = runError(failure);
  return { error, message: redact(message) };
}

/** A failure of storage, not of the graph: the same attempt may succeed later. */
export function isInfrastructure(failure: unknown): boolean {
  return failure instanceof ServerError && (failure.status === 503 || failure.status === 507);
}

function redact(message: string): string {
  return message.replace(CREDENTIALS, '$1***@').replace(ABSOLUTE_PATH, '$1');
}
