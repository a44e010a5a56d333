import type { Config } from '../config/schema.ts';
import type { Meter } from '../core/meter.ts';
import type { ServiceContext } from '../services/all-services.ts';
import type { OutputRules } from '../workers/attempt-log.ts';
import type { PostWebhook } from '../workers/webhook-request.ts';
import type { AccessControl } from './auth.ts';

/** Shared dependencies of services and workers; they communicate only through storage, bus and active runs. */
export interface AppContext extends ServiceContext {
  readonly config: Config;
  readonly access: AccessControl;
  readonly meter: Meter;
  /** Aborted when graceful drain begins. */
  readonly draining: AbortSignal;
  /** Posts a webhook to a custom route. */
  readonly postToCustomApp: PostWebhook;
  /** How output of graphs is logged and masked. */
  readonly output: OutputRules;
}
