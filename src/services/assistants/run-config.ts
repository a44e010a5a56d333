import { BadRequest, InvalidInput } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Config } from '../../schemas/assistants.ts';
import { boundedInt } from '../../schemas/numbers.ts';
import type { Riders } from '../../storage/riders.ts';
import { lowerBudget } from './run-budget.ts';

interface RecursionLimits {
  /** Upper bound of `recursion_limit`, supersteps (`runs.max_recursion_limit`). */
  readonly max_recursion_limit: number;
}

/** Bounds of what a run configuration may ask for. */
export interface RunLimits extends RecursionLimits {
  readonly riders: Riders;
}

/** What only a rider enforces. */
const ENFORCED_KEYS = ['budget'];

/** Throws `InvalidInput` if the configuration asks for more than the server allows, or for a limit that it cannot keep. */
export function checkRunLimits(
  deps: RunLimits,
  config: Readonly<Record<string, unknown>> | null | undefined,
): void {
  checkRecursionLimit(deps, config);
  if (!config) return;
  const { riders } = deps;
  const ignored = ENFORCED_KEYS.find((key) => config[key] !== undefined && !riders.enforces(key));
  if (ignored) throw new InvalidInput(`config.${ignored}: this server does not limit what runs use`);
  const refusal = riders.checkConfig(config);
  if (refusal) throw refusal;
}

/** Of limits that both an assistant and a request set, the lower one applies. */
export const mergeLimits = lowerBudget;

/**
 * Throws `InvalidInput` for a `recursion_limit` above the server's maximum, the only bound on a cyclic graph. `name` is
 * the field in the error message. Without a limit LangGraph's default applies, 25.
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
 * `config.configurable` is the older name of `context`: either is copied to the other, and sending both is an error
 * (contract §2.1, §3).
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
