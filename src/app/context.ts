import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { LiveRuns } from '../events/writer.ts';
import type { GraphMemory, GraphRegistry } from '../graphs/graph.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import type { WebhookPolicy } from '../services/webhooks/webhook-policy.ts';
import type { Storage } from '../storage/storage.ts';
import type { EngineOptions } from '../workers/engine.ts';
import type { PostWebhook } from '../workers/webhook-request.ts';
import type { AccessControl } from './auth.ts';

/** What services and workers are made of; they meet only here: in storage, in the bus and in the runs in memory. */
export interface AppContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Of this process, whether it executes runs or only answers. */
  readonly worker_id: string;
  readonly storage: Storage;
  readonly graphs: GraphRegistry;
  readonly bus: EventBus;
  readonly live: LiveRuns;
  readonly longTermStore: LongTermStore;
  /** The same, as graphs see it. */
  readonly store: GraphMemory['store'];
  /** Which addresses clients may have called. */
  readonly webhooks: WebhookPolicy;
  /** Posts to a route of the project's own app. */
  readonly postToCustomApp: PostWebhook;
  readonly access: AccessControl;
  /** Aborted from the moment the process was told to stop. */
  readonly draining: AbortSignal;
  /** A run that ended the process before this one. */
  readonly blamed: EngineOptions['blamed'];
  /** How long the log of an ended run is kept, ms. */
  readonly log_retention_ms: number;
}
