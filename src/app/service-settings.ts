import type { Config } from '../config/schema.ts';
import type { ServiceSettings } from '../services/all-services.ts';
import type { Ttl } from '../storage/threads/row.ts';

export function serviceSettings(config: Config): ServiceSettings {
  const { runs, ui, ui_config, root } = config;
  return {
    default_ttl: defaultTtl(config.checkpointer),
    sends_webhooks: !config.http.disable_webhooks,
    max_recursion_limit: runs.max_recursion_limit,
    max_attempts: runs.max_attempts,
    assistant_defaults: config.assistants,
    missed_crons: config.crons.missed,
    ui: { paths: ui, shared: ui_config.shared, root },
  };
}

function defaultTtl({ ttl: { strategy, default_ttl: ttl } }: Config['checkpointer']): Ttl | undefined {
  return ttl === undefined ? undefined : { strategy, ttl };
}
