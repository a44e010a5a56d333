import { ConfigError } from '../config/errors.ts';
import { ServerError } from '../core/errors.ts';
import { errorStack } from '../core/failure.ts';
import { StartFailure } from '../node.ts';
import { UsageError } from './command.ts';

/**
 * Says on the standard error what went wrong: what the user can mend in a line each, a fault of the program with its
 * stack. Returns the exit code: 1 failure, 2 bad usage or configuration (DESIGN §2).
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
