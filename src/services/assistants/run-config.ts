import { BadRequest, InvalidInput } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Config } from '../../schemas/assistants.ts';
import { boundedInt } from '../../schemas/numbers.ts';

export interface RecursionLimits {
  /** How many steps a run may be given (`runs.max_recursion_limit`). */
  readonly max_recursion_limit: number;
}

/**
 * Throws `InvalidInput` for a `recursion_limit` above the server's: a graph that goes in a circle ends only there. `name`
 * is what the client knows it by. A limit that is not given is LangGraph's own, 25.
 */
export function checkRecursionLimit(
  { max_recursion_limit: max }: RecursionLimits,
  config: Readonly<Record<string, unknown>> | null | undefined,
  name = 'config.recursion_limit',
): void {
  const limit = config?.['recursion_limit'];
  if (limit === undefined) return;
  const { error } = boundedInt({ min: 1, max, unit: 'steps' }).safeParse(limit);
  if (error) throw new InvalidInput(`${name}: ${error.issues[0]?.message}`);
}

/**
 * `config.configurable` is the older name of `context`: whichever is given becomes both, and giving both is an error
 * (CONTRACT §2.1, §3).
 */
export function syncConfigurable(
  config: Config,
  context: JsonObject,
): { config: Config; context: JsonObject } {
  const configurable = config.configurable ?? {};
  if (isEmpty(context)) return { config, context: configurable };
  if (isEmpty(configurable)) return { config: { ...config, configurable: context }, context };
  throw new BadRequest(
    'Cannot specify both configurable and context. Prefer setting context alone. Context was introduced in ' +
      'LangGraph 0.6.0 and is the long term planned replacement for configurable.',
  );
}

function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}
