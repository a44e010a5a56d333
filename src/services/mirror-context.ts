import { BadRequest } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Config } from '../schemas/assistants.ts';

/**
 * `config.configurable` is the older name of `context`: whichever is given becomes both, and giving both is an error
 * (CONTRACT §2.1, §3).
 */
export function mirrorContext(config: Config, context: JsonObject): { config: Config; context: JsonObject } {
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
