import type { Config } from '../config/schema.ts';
import type { ServiceSettings } from '../services/all-services.ts';
import type { Ttl } from '../storage/threads/row.ts';

export function serviceSettings(config: Config): ServiceSettings {
  const { runs, root } = config;
  return {
    default_ttl: defaultTtl(config.checkpointer),
    sends_webhooks: !config.http.disable_webhooks,
    give_up_ms: config.webhooks.delivery.give_up_hours * 3_600_000,
    fires_crons: config.crons.enabled && config.server.role !== 'api',
    max_recursion_limit: runs.max_recursion_limit,
    max_attempts: runs.max_attempts,
    assistant_defaults: config.assistants,
    missed_crons: config.crons.missed,
    root,
  };
}

function defaultTtl({ ttl: { strategy, default_ttl: ttl } }: Config['checkpointer']): Ttl | undefined {
  return ttl === undefined ? undefined : { strategy, ttl };
}
