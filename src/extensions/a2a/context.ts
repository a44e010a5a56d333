import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { EventBus } from '../../events/bus.ts';
import type { LiveRuns } from '../../events/writer.ts';
import type { Services } from '../../services/all-services.ts';
import type { WebhookPolicy } from '../../services/webhooks/webhook-policy.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ReadCardData } from './card-data.ts';
import type { A2aPushRepository } from './storage/push-configs.ts';
import type { A2aTaskRepository } from './storage/tasks.ts';

/** What the parts of the service work with. */
export interface A2aContext {
  readonly services: Services;
  readonly tasks: A2aTaskRepository;
  readonly push: A2aPushRepository;
  readonly events: Storage['events'];
  readonly live: LiveRuns;
  readonly webhooks: WebhookPolicy;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly ids: Ids;
  /** `false` disables push notifications (`http.disable_webhooks`). */
  readonly sends_webhooks: boolean;
  readonly cardDataOf: ReadCardData;
}
