import type { Config } from '../config/schema.ts';
import type { ServiceContext } from '../services/all-services.ts';
import type { EngineOptions } from '../workers/engine.ts';
import type { PostWebhook } from '../workers/webhook-request.ts';
import type { AccessControl } from './auth.ts';

/** What services and workers are made of; they meet only here: in storage, in the bus and in the runs in memory. */
export interface AppContext extends ServiceContext {
  readonly config: Config;
  readonly access: AccessControl;
  /** Posts to a route of the project's own app. */
  readonly postToCustomApp: PostWebhook;
  /** A run that ended the process before this one. */
  readonly blamed: EngineOptions['blamed'];
}
