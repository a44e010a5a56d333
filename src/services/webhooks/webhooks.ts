import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { Conflict, NotFound } from '../../core/errors.ts';
import { toJson } from '../../core/json.ts';
import { Latch } from '../../core/latch.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';
import { truncateText } from '../../core/text.ts';
import type { EventBus } from '../../events/bus.ts';
import type {
  Delivery,
  DeliveryDetail,
  DeliveryRequest,
  DeliverySearch,
  WebhookTest,
} from '../../schemas/webhooks.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { WebhookOutbox } from '../../storage/webhooks/outbox.ts';
import { type Page, pageOf } from '../pagination.ts';
import type { WebhookPolicy } from './webhook-policy.ts';

export interface WebhookDeps {
  readonly outbox: WebhookOutbox;
  readonly webhooks: WebhookPolicy;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** `false` disables delivery (`http.disable_webhooks`). */
  readonly sends_webhooks: boolean;
}

/** Fallback poll, as bus events may be lost, ms. */
const SAFETY_POLL_MS = 500;

export type WebhookService = ReturnType<typeof webhookService>;

/**
 * Webhook deliveries: history, redelivery, and testing a receiver. The caller's rights on a thread apply to its
 * deliveries.
 */
export function webhookService({ outbox, webhooks, bus, clock, sends_webhooks }: WebhookDeps) {
  async function find(delivery_id: string, visibility?: Visibility): Promise<Delivery> {
    const delivery = await outbox.get(delivery_id, visibility);
    if (!delivery) throw new NotFound(`Delivery ${delivery_id} not found`);
    return delivery;
  }

  async function detail(delivery_id: string, visibility?: Visibility): Promise<DeliveryDetail> {
    const delivery = await find(delivery_id, visibility);
    const content = await outbox.contentOf(delivery_id);
    if (!content) throw new NotFound(`Delivery ${delivery_id} not found`);
    return {
      ...delivery,
      request: redactedRequest(content, delivery.url),
      attempts: await outbox.attemptsOf(delivery_id),
    };
  }

  function requireSending(): void {
    if (!sends_webhooks) throw new Conflict('This server sends no webhooks: http.disable_webhooks is set');
  }

  return {
    /** Newest first. */
    async search(actor: Actor, search: DeliverySearch): Promise<Page<Delivery>> {
      const visibility = await authorize(actor, 'threads:search', { ...search });
      const rows = await outbox.search({ ...search, limit: search.limit + 1 }, visibility);
      return pageOf(rows, search.limit, search.offset);
    },

    async get(actor: Actor, delivery_id: string): Promise<DeliveryDetail> {
      return detail(delivery_id, await authorize(actor, 'threads:read', { delivery_id }));
    },

    /** Redelivers under the same id, whatever its status. Throws `Conflict` if webhooks are disabled. */
    async redeliver(actor: Actor, delivery_id: string): Promise<Delivery> {
      const visibility = await authorize(actor, 'threads:update', { delivery_id });
      requireSending();
      if (await outbox.redeliver(delivery_id, visibility)) {
        bus.emit('delivery.queued');
        bus.emit('row.changed', 'delivery', delivery_id);
      }
      return find(delivery_id, visibility);
    },

    /**
     * Sends one sample delivery and returns its result. Throws `InvalidInput` for a forbidden URL, `Conflict` if
     * webhooks are disabled.
     */
    async test(actor: Actor, { url }: WebhookTest, signal: AbortSignal): Promise<DeliveryDetail> {
      // Requires the right to create runs, which also make the server call URLs.
      const value = { thread_id: null, assistant_id: NIL_UUID, metadata: {}, kwargs: { webhook: url } };
      await authorize(actor, 'threads:create_run', value);
      requireSending();
      await webhooks.check(url);
      const delivery_id = await outbox.enqueue({
        kind: 'test',
        url,
        body: samplePayload(url, timestamp(clock.now())),
        sent_at_field: 'webhook_sent_at',
        metadata: value.metadata,
        max_tries: 1,
      });
      const changed = new Latch();
      using _subscription = bus.onUpdated(delivery_id, () => changed.open());
      bus.emit('delivery.queued');
      for (;;) {
        const delivery = await detail(delivery_id);
        if (delivery.status !== 'pending' || signal.aborted) return delivery;
        await changed.wait(SAFETY_POLL_MS, signal);
      }
    },
  };
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Sample of the payload sent at a run's end. */
function samplePayload(url: string, at: string): string {
  return toJson({
    run_id: NIL_UUID,
    thread_id: NIL_UUID,
    assistant_id: NIL_UUID,
    metadata: { test: true },
    status: 'success',
    kwargs: { input: null, config: {}, webhook: url },
    multitask_strategy: 'enqueue',
    created_at: at,
    updated_at: at,
    langsmith_session_name: null,
    run_started_at: at,
    run_ended_at: at,
    values: {},
  });
}

/** Maximum length of a body preview, characters: a body holds a thread's values, which may be megabytes. */
const MAX_PREVIEW = 65_536;
/** How much of the body is read, characters; masking shortens it. */
const READ = 2 * MAX_PREVIEW;

interface DeliveryContent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The request of a delivery without known secrets: a run's body contains the URL, which is often a secret
 * itself.
 */
function redactedRequest({ url, headers, body }: DeliveryContent, masked_url: string): DeliveryRequest {
  const withoutUrl = url === masked_url ? body : body.replaceAll(inJson(url), inJson(masked_url));
  // Truncation may cut the last secret; the mask recognizes its beginning.
  const masked = maskSecrets(truncateText(withoutUrl.slice(0, READ), 3 * READ, withoutUrl.length));
  return {
    header_names: Object.keys(headers),
    body: masked.slice(0, MAX_PREVIEW),
    body_length: body.length,
  };
}

function inJson(text: string): string {
  return toJson(text).slice(1, -1);
}
