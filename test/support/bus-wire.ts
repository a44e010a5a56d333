import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { decodeMessage } from '../../src/events/bus-messages.ts';
import { SharedBus } from '../../src/events/shared-bus.ts';
import { until } from './until.ts';

/** Brings every text to every process, the sender included, in its own time, as PostgreSQL does. */
export class Wire {
  readonly sent: string[] = [];
  readonly #buses = new Set<SharedBus>();
  isDropping = false;
  resets = 0;

  /** `slots: 0`: serves requests only. */
  connect(id: string, slots = 1, echo_ms = 60_000): SharedBus {
    const wire = this;
    const bus = new SharedBus({
      id,
      presence: { is_worker: slots > 0, slots },
      transport: {
        isConnected: true,
        async send(text) {
          if (wire.isDropping) return;
          wire.sent.push(text);
          for (const each of wire.#buses) setImmediate(() => each.received(text));
        },
        reset() {
          wire.resets += 1;
        },
      },
      clock: systemClock,
      logger: silentLogger,
      echo_ms,
    });
    this.#buses.add(bus);
    bus.connected();
    return bus;
  }

  /** Texts that carry more than an introduction. */
  get messages() {
    return this.sent
      .map((text) => decodeMessage(text))
      .filter((message) => message && (message.events?.length || message.updated?.length));
  }
}

/** Each knows the others once their introductions were answered. */
export async function introduced(wire: Wire, count: number): Promise<void> {
  await until('all know each other', () => wire.sent.length >= count * 2 - 1);
  await until('nothing is under way', async () => {
    const before = wire.sent.length;
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    return wire.sent.length === before;
  });
}
