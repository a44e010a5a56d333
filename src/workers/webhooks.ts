import type { RandomNumber } from '../core/backoff.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import type { LogFields, Logger } from '../core/logger.ts';
import { after } from '../core/timers.ts';
import { parseTraceparent } from '../core/trace-ids.ts';
import type { EventBus, PollIntervals } from '../events/bus.ts';
import type { AckResult } from '../storage/webhooks/ack.ts';
import type { ClaimedDelivery } from '../storage/webhooks/claim.ts';
import type { WebhookOutbox } from '../storage/webhooks/outbox.ts';
import { Loop } from './loop.ts';
import {
  type DeliveryOutcome,
  outcomeOfFailure,
  outcomeOfResponse,
  outcomeOfUndecryptable,
  type RetryRules,
} from './webhook-outcome.ts';
import type { PostWebhook } from './webhook-request.ts';
import { signedHeaders } from './webhook-signature.ts';
import { DeliverySlots, type SlotLimits } from './webhook-slots.ts';

export interface DispatchRules extends RetryRules, SlotLimits {
  /** Lease of a claimed delivery, ms; longer than a try takes. */
  readonly lease_ms: number;
  readonly secrets: readonly string[];
  /** Added to each delivery. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface DispatcherDeps {
  readonly outbox: WebhookOutbox;
  readonly bus: EventBus;
  /** Disposed when the dispatcher has stopped. */
  readonly sender: { readonly post: PostWebhook } & AsyncDisposable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly worker_id: string;
  readonly random: RandomNumber;
  readonly logger: Logger;
  readonly rules: DispatchRules;
}

/** Longest sleep, ms: this process may not be notified of a delivery that another one queued. */
const MAX_SLEEP_MS: PollIntervals = { rare: 30_000, usual: 5_000, frequent: 1_000 };
/** Delay before a due delivery that is blocked by an earlier one of its lane is checked again, ms. */
const BLOCKED_MS = 1_000;
/** Delay before the lease of this process is checked again, ms. */
const LEASE_CHECK_MS = 1_000;
const BASE_HEADERS = { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'agent-server' };

/** Sends the deliveries of the outbox (at-least-once) until they are accepted or given up. */
export class WebhookDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #loop: Loop;
  /** Aborts the tries in flight when they take too long to stop, or the lease of this process ends. */
  #abort = new AbortController();
  #isLeaseHeld = () => true;
  readonly #active = new Set<Promise<void>>();
  readonly #slots: DeliverySlots;
  readonly #tries: Record<'delivered' | 'failed', number> = { delivered: 0, failed: 0 };
  #subscriptions: Disposable[] = [];

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#slots = new DeliverySlots(deps.rules);
    this.#loop = new Loop({ name: 'webhooks', tick: () => this.tick(), logger: deps.logger });
  }

  /** Tries of this process since its start, by outcome. */
  get tries(): Readonly<Record<'delivered' | 'failed', number>> {
    return this.#tries;
  }

  /** `isLeaseHeld`: without the lease of this process, others release what it claims. */
  start(isLeaseHeld: () => boolean): void {
    this.#isLeaseHeld = isLeaseHeld;
    const wake = () => this.#loop.wake();
    const { bus } = this.#deps;
    this.#subscriptions = [bus.on('delivery.queued', wake), bus.on('reconnected', wake)];
    this.#loop.start();
  }

  /** Graceful drain: claims nothing new, waits `grace_ms` for deliveries in flight, releases the rest. */
  async stop(grace_ms: number): Promise<void> {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#loop.stop();
    {
      using _timer = after(grace_ms, () => this.#abort.abort());
      await this.drained();
    }
    await this.#deps.sender[Symbol.asyncDispose]();
  }

  /** Resolves when every delivery in flight is acknowledged. */
  async drained(): Promise<void> {
    await Promise.all(this.#active);
  }

  /** Aborts the tries in flight: another process makes them. */
  leaseEnded(): void {
    if (this.#active.size === 0) return;
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  /** Starts the deliveries that are due and within the limits; returns the delay before the next tick, ms. */
  async tick(): Promise<number> {
    if (!this.#isLeaseHeld()) return LEASE_CHECK_MS;
    const { outbox } = this.#deps;
    let taken = 0;
    let sleep_ms = MAX_SLEEP_MS[this.#deps.bus.poll_rate];
    const hosts = await outbox.pendingHosts();
    this.#slots.prune(new Set(hosts.map(({ host }) => host)));
    for (const { host, due_in_ms } of hosts) {
      const count = due_in_ms > 0 ? 0 : await this.#claimFor(host);
      taken += count;
      if (count === 0) sleep_ms = Math.min(sleep_ms, due_in_ms || BLOCKED_MS);
    }
    // A host that yielded deliveries may have more that are due: tick again without delay.
    return taken > 0 ? 0 : sleep_ms;
  }

  async #claimFor(host: string): Promise<number> {
    const { outbox, ids, worker_id, rules } = this.#deps;
    const limit = this.#slots.free(host);
    // The end of a delivery in flight wakes the loop.
    if (limit <= 0) return 0;
    const token = ids.uuid4();
    const claimed = await outbox.claim({ host, token, worker_id, limit, lease_ms: rules.lease_ms });
    for (const delivery of claimed) this.#send(delivery, host, token);
    return claimed.length;
  }

  #send(delivery: ClaimedDelivery, host: string, token: string): void {
    const slot = this.#slots.take(host);
    const done = this.#deliver(delivery, host, token)
      .catch((error: unknown) => {
        // Its lease expires, and it is sent again.
        const fields = { ...deliveryFields(delivery), error };
        this.#deps.logger.error('cannot store the outcome of a webhook', fields);
      })
      .finally(() => {
        slot[Symbol.dispose]();
        this.#active.delete(done);
        this.#loop.wake();
      });
    this.#active.add(done);
  }

  async #deliver(delivery: ClaimedDelivery, host: string, token: string): Promise<void> {
    const { outbox, clock, bus } = this.#deps;
    const { delivery_id } = delivery;
    const started_at = timestamp(clock.now());
    const begun = clock.monotonic();
    const { signal } = this.#abort;
    const { verdict, ...result } = await this.#try(delivery, signal);
    // Another process sends it.
    if (signal.aborted && verdict.outcome !== 'delivered') return outbox.release({ delivery_id, token });
    this.#slots.tried(host, result.status_code !== null);
    const duration_ms = Math.round(clock.monotonic() - begun);
    const status = await outbox.ack({ delivery_id, token }, { started_at, duration_ms, ...result }, verdict);
    this.#tries[verdict.outcome === 'delivered' ? 'delivered' : 'failed'] += 1;
    this.#report(delivery, result.error, status);
    bus.updated(delivery_id);
    bus.emit('row.changed', 'delivery', delivery_id);
  }

  async #try(delivery: ClaimedDelivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { sender, clock, rules } = this.#deps;
    if (delivery.decryption_error) return outcomeOfUndecryptable(delivery, this.#deps);
    const now_ms = clock.now();
    const body = withSentAt(delivery, timestamp(now_ms));
    const signed = signedHeaders({ id: delivery.delivery_id, at_ms: now_ms, body }, rules.secrets);
    const headers = {
      ...BASE_HEADERS,
      ...lowerCase(rules.headers),
      ...lowerCase(delivery.headers),
      ...signed,
    };
    try {
      const answer = await sender.post({ url: delivery.url, headers, body }, signal);
      return outcomeOfResponse(answer, delivery, this.#deps);
    } catch (failure) {
      return outcomeOfFailure(failure, delivery, this.#deps);
    }
  }

  #report(delivery: ClaimedDelivery, error: string | null, status: AckResult) {
    const { shown_url: url, tries, decryption_error: unreadable } = delivery;
    const cause = unreadable && { cause: unreadable.message };
    const fields = { ...deliveryFields(delivery), url, tries, ...(error !== null && { error }), ...cause };
    const { logger } = this.#deps;
    if (status === 'delivered') logger.debug('webhook delivered', fields);
    else if (status === 'pending') logger.warn('webhook failed, retrying', fields);
    else if (status === 'dead') logger.error('webhook failed, giving up', fields);
  }
}

/** Fields of every log line about a delivery: those of its run that are known, and no attempt of it, as all have ended. */
function deliveryFields({
  delivery_id,
  run_id,
  thread_id,
  assistant_id,
  headers,
}: ClaimedDelivery): LogFields {
  const trace_id = parseTraceparent(headers['traceparent'])?.trace_id;
  return {
    ...{ delivery_id, run_id, thread_id },
    ...(assistant_id !== null && { assistant_id }),
    ...(trace_id !== undefined && { trace_id }),
  };
}

/** Adds the time of this try to the body, if the delivery requires it. */
function withSentAt({ body, sent_at_field }: ClaimedDelivery, at: string): string {
  if (sent_at_field === null) return body;
  const stamp = JSON.stringify({ [sent_at_field]: at });
  return body === '{}' ? stamp : `${body.slice(0, -1)},${stamp.slice(1)}`;
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
