import { ConfigError } from '../config/errors.ts';
import { ServerError } from '../core/errors.ts';
import { errorStack } from '../core/failure.ts';
import { StartFailure } from '../node.ts';
import { UsageError } from './command.ts';

/**
 * Prints an error to stderr: user errors as one line each, bugs with their stack. Returns the exit code: 1 failure, 2
 * usage or configuration error.
 */
export function reportError(error: unknown): 1 | 2 {
  for (const line of linesOf(error)) process.stderr.write(`agent-server: ${line}\n`);
  return error instanceof ConfigError || error instanceof UsageError ? 2 : 1;
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  if (error instanceof UsageError || error instanceof StartFailure || error instanceof ServerError)
    return [error.message];
  return [errorStack(error)];
}
