import { InvalidInput } from '../core/errors.ts';
import { boundedInt } from '../schemas/numbers.ts';

export interface RecursionRules {
  /** How many steps a run may be given (`runs.max_recursion_limit`). */
  readonly max_recursion_limit: number;
}

/**
 * Throws `InvalidInput` for a `recursion_limit` above the server's: a graph that goes in a circle ends only there. `name`
 * is what the client knows it by. A limit that is not given is LangGraph's own, 25.
 */
export function checkRecursionLimit(
  { max_recursion_limit: max }: RecursionRules,
  config: Readonly<Record<string, unknown>> | null | undefined,
  name = 'config.recursion_limit',
): void {
  const limit = config?.['recursion_limit'];
  if (limit === undefined) return;
  const { error } = boundedInt({ min: 1, max, unit: 'steps' }).safeParse(limit);
  if (error) throw new InvalidInput(`${name}: ${error.issues[0]?.message}`);
}
