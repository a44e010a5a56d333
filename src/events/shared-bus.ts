import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { after, every, sleep, type Timer } from '../core/timers.ts';
import { BUS_ROUTES, type BusEvents, type EventBus, localListeners, type PollRate } from './bus.ts';
import {
  type BusMessage,
  decodeMessage,
  encodeMessages,
  type Presence,
  type SentEvent,
} from './bus-messages.ts';
import { Peers } from './peers.ts';

/** How messages reach every process of the database, this one included. May lose any of them. */
export interface BusTransport {
  readonly isConnected: boolean;
  send(text: string): Promise<void>;
  /** Connects anew: what was sent did not come back. */
  reset(reason: string): void;
}

type Abilities = Pick<Presence, 'is_worker' | 'slots'>;

export interface SharedBusOptions {
  /** Id of this process. */
  readonly id: string;
  /** This process, as the others should know it. */
  readonly presence: Abilities;
  readonly transport: BusTransport;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Intervals, ms; by default `PRESENCE_MS` and `ECHO_MS`. */
  readonly presence_ms?: number;
  readonly echo_ms?: number;
}

/** Interval at which a process introduces itself, which is also what keeps the connection alive, ms. */
const PRESENCE_MS = 15_000;
/** Time for an introduction to come back to its sender; after that the connection counts as dead, ms. */
const ECHO_MS = 5_000;
/** Time between two notifications of a process, ms: each takes a lock of the whole database at its commit. */
const SEND_INTERVAL_MS = 2;
/** Beyond this many ids a message is not worth its price: subscribers poll. */
const MAX_PENDING_IDS = 20_000;

/**
 * Bus over all processes of a database: local listeners are called synchronously, and what the others should know is
 * collected and sent as one notification. While no other process is there, nothing is sent.
 */
export class SharedBus implements EventBus, Disposable {
  readonly #options: SharedBusOptions;
  readonly #local = localListeners();
  readonly #peers: Peers;
  readonly #timer: Timer;
  #abilities: Abilities;
  #events: SentEvent[] = [];
  #updated = new Set<string>();
  #watchers = 0;
  #presence: Presence | undefined;
  #sending: Promise<void> | undefined;
  /** When this process last introduced itself, and when that last came back; monotonic ms. */
  #introduced_at = Number.NEGATIVE_INFINITY;
  #echoed_at = Number.NEGATIVE_INFINITY;
  #isProbed = false;
  #isClosed = false;

  constructor(options: SharedBusOptions) {
    this.#options = options;
    const { clock, presence, presence_ms = PRESENCE_MS } = options;
    this.#abilities = presence;
    this.#peers = new Peers(clock, 3 * presence_ms);
    this.#timer = every(presence_ms, () => this.#tick()).unref();
  }

  readonly on: EventBus['on'] = (event, listener) => {
    const subscription = this.#local.on(event, listener);
    if (BUS_ROUTES[event] !== 'watchers') return subscription;
    this.#watch(1);
    return {
      [Symbol.dispose]: () => {
        subscription[Symbol.dispose]();
        this.#watch(-1);
      },
    };
  };
  readonly onUpdated: EventBus['onUpdated'] = (id, listener) => this.#local.onUpdated(id, listener);

  get poll_rate(): PollRate {
    const { clock, transport, presence_ms = PRESENCE_MS } = this.#options;
    const isEchoed = clock.monotonic() - this.#echoed_at < 2 * presence_ms;
    return transport.isConnected && isEchoed ? 'rare' : 'usual';
  }

  emit<Name extends keyof BusEvents>(name: Name, ...payload: BusEvents[Name]): void {
    const route = BUS_ROUTES[name];
    // Decided first: a listener may unsubscribe.
    const isHandled = route === 'local' || (route === 'one' && this.#local.has(name));
    if (route !== 'others') this.#local.emit(name, ...payload);
    if (isHandled || this.#peers.isEmpty) return;
    const texts = payload.map(String);
    if (route === 'all') this.#send({ name, payload: texts });
    if (route === 'one') this.#send({ name, payload: texts, to: this.#peers.next('is_worker') });
    if (route === 'watchers' && this.#peers.areWatching) this.#send({ name, payload: texts });
    const first = route === 'others' ? this.#peers.next('slots') : undefined;
    if (first !== undefined) this.#send({ name, payload: [first] });
  }

  updated(id: string, audience: 'all' | 'local' | 'others' = 'all'): void {
    if (audience !== 'others') this.#local.updated(id);
    if (audience === 'local' || this.#peers.isEmpty || this.#updated.size >= MAX_PENDING_IDS) return;
    this.#updated.add(id);
    this.#flush();
  }

  /** Call when the transport has connected. After a reconnect, what was sent meanwhile may be lost. */
  connected(): void {
    const isReconnect = this.#introduced_at > 0;
    this.#introduce({ is_new: true });
    if (isReconnect) this.#catchUp();
  }

  /** Call with each message that arrives. */
  received(text: string): void {
    const message = decodeMessage(text);
    if (!message || this.#isClosed) return;
    if (message.from === this.#options.id) this.#echoed(message);
    else this.#deliver(message);
  }

  /** Resolves to whether the probe, sent by another connection, arrived within `ms`. */
  async isProbed(ms: number): Promise<boolean> {
    const { clock } = this.#options;
    const until = clock.monotonic() + ms;
    while (!this.#isProbed && clock.monotonic() < until) await sleep(10);
    return this.#isProbed;
  }

  /** Text of the probe, which also introduces this process. */
  get probe(): string {
    const presence = { ...this.#abilities, is_new: true, is_probe: true } as const;
    return encodeMessages({ from: this.#options.id, presence })[0] as string;
  }

  /** This process drains: it still hears everything, but nothing is left to it alone. */
  takeNothing(): void {
    this.#abilities = { is_worker: false, slots: 0 };
    this.#introduce({});
  }

  /** Tells the others that this process leaves, so that nothing is sent to it. */
  async leave(): Promise<void> {
    this.#introduce({ leaves: true });
    await this.#sending;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer[Symbol.dispose]();
  }

  #tick(): void {
    const { clock, transport, presence_ms = PRESENCE_MS } = this.#options;
    // After a pause of the whole process the others have forgotten it, and sent it nothing.
    const isForgotten = clock.monotonic() - this.#introduced_at > 2 * presence_ms;
    if (isForgotten) this.#catchUp();
    this.#peers.prune();
    if (transport.isConnected) this.#introduce(isForgotten ? { is_new: true } : {});
  }

  #introduce(more: Pick<Presence, 'is_new' | 'leaves'>): void {
    const { clock, echo_ms = ECHO_MS } = this.#options;
    this.#introduced_at = clock.monotonic();
    const since = this.#introduced_at;
    const watches = this.#watchers > 0;
    this.#presence = { ...this.#abilities, ...(watches && { watches }), ...more };
    this.#flush();
    if (!more.leaves) after(echo_ms, () => this.#checkEcho(since)).unref();
  }

  /** The others send changes only to processes that have a listener. */
  #watch(change: 1 | -1): void {
    const before = this.#watchers > 0;
    this.#watchers += change;
    if (before !== this.#watchers > 0 && !this.#isClosed) this.#introduce({});
  }

  #checkEcho(since: number): void {
    const { transport, logger } = this.#options;
    // Timers come before sockets: an answer that waited for the event loop is read first.
    setImmediate(() => {
      if (this.#echoed_at >= since || this.#isClosed || !transport.isConnected) return;
      logger.warn('notifications between processes do not arrive, reconnecting');
      transport.reset('an own notification did not come back');
    });
  }

  #echoed({ presence }: BusMessage): void {
    if (presence) this.#echoed_at = this.#options.clock.monotonic();
    this.#isProbed ||= presence?.is_probe === true;
  }

  #deliver({ from, presence, events = [], updated = [] }: BusMessage): void {
    if (presence?.leaves) this.#peers.delete(from);
    else if (presence || !this.#peers.has(from)) {
      const isNew = !this.#peers.has(from);
      this.#peers.add(from, presence);
      if (presence?.is_new || isNew) this.#introduce({});
    }
    const { id } = this.#options;
    for (const { name, payload, to } of events) {
      if (to !== undefined && to !== id) continue;
      if (name === 'runs.offered') this.#local.emit(name, payload[0] === id);
      else this.#local.emit(name, ...(payload as never));
    }
    for (const each of updated) this.#local.updated(each);
  }

  /** Every subscriber polls once. */
  #catchUp(): void {
    this.#local.emit('reconnected');
    this.#local.updateAll();
  }

  #send(event: SentEvent): void {
    this.#events.push(event);
    this.#flush();
  }

  #flush(): void {
    this.#sending ??= this.#sendPending().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendPending(): Promise<void> {
    const { id, transport, logger } = this.#options;
    // The rest of this turn of the event loop joins the first notification.
    await new Promise(setImmediate);
    while (this.#presence || this.#events.length > 0 || this.#updated.size > 0) {
      const message = {
        from: id,
        presence: this.#presence,
        events: this.#events,
        updated: [...this.#updated],
      };
      this.#presence = undefined;
      this.#events = [];
      this.#updated = new Set();
      try {
        for (const text of encodeMessages(message)) await transport.send(text);
      } catch (error) {
        logger.debug('a notification for other processes is lost', { error });
      }
      await sleep(SEND_INTERVAL_MS);
    }
  }
}
