import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { closeAll } from '../core/lifecycle.ts';
import type { Logger } from '../core/logger.ts';
import { openChannel } from '../db/engines/postgres-channel.ts';
import { passwordFrom } from '../db/engines/postgres-password.ts';
import { type EventBus, memoryBus } from '../events/bus.ts';
import { SharedBus } from '../events/shared-bus.ts';
import type { Notifications } from '../storage/notifications.ts';
import { AUTO_CEILING } from '../workers/load-limits.ts';

export interface OpenBus extends AsyncDisposable {
  readonly bus: EventBus;
  /** Announces that this process takes no new work; it still receives events of what it serves. */
  drain(): void;
}

export interface BusContext {
  readonly config: Pick<Config, 'storage' | 'runs' | 'server'>;
  readonly notifications: Notifications | undefined;
  readonly worker_id: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long the first notification may take to come back, ms: a process polls until its end if it is late. */
const PROBE_MS = 5000;

/**
 * Opens the bus that the configuration asks for. Where notifications do not arrive, as through a connection pooler in
 * transaction mode, processes poll more often instead.
 */
export async function openBus(context: BusContext): Promise<OpenBus> {
  const { config, notifications, logger } = context;
  const mode = config.storage.notifications;
  if (!notifications || mode === 'off') return local(memoryBus());
  if (mode === 'poll') return local(memoryBus('frequent'));
  const shared = await openSharedBus(context, notifications);
  if (shared) return shared;
  logger.warn(
    'PostgreSQL notifications do not arrive here, so processes poll instead: a connection pooler in ' +
      'transaction mode does not pass them on. Set storage.listen_url to a direct URL of the database, or ' +
      'storage.notifications to poll.',
  );
  return local(memoryBus('frequent'));
}

/** Run slots of this process; other processes only need to know whether it has any. */
function slotsOf({ runs: { concurrency } }: Pick<Config, 'runs'>): number {
  return concurrency === 'auto' ? AUTO_CEILING : concurrency;
}

function local(bus: EventBus): OpenBus {
  return { bus, drain: () => {}, [Symbol.asyncDispose]: async () => {} };
}

/** Returns `undefined` if a test notification does not arrive. */
async function openSharedBus(
  { config, worker_id, clock, logger }: BusContext,
  notifications: Notifications,
): Promise<OpenBus | undefined> {
  const name = await notifications.channelName();
  const { url, listen_url = url, password_command: command } = config.storage;
  let is_down = false;
  const channel = openChannel({
    url: listen_url,
    password: command === undefined ? undefined : passwordFrom(command, { clock }),
    name,
    onMessage: (text) => bus.received(text),
    onConnect() {
      if (is_down) logger.info('notifications between processes restored');
      is_down = false;
      bus.connected();
    },
    onDisconnect(error) {
      if (!is_down)
        logger.warn('lost the connection for notifications between processes, reconnecting', { error });
      is_down = true;
    },
  });
  const transport = {
    get isConnected() {
      return channel.isConnected;
    },
    send: (text: string) => channel.notify(text).catch(() => notifications.notify(name, text)),
    reset: channel.reset.bind(channel),
  };
  const is_worker = config.server.role !== 'api';
  const presence = { is_worker, slots: is_worker ? slotsOf(config) : 0 };
  const bus = new SharedBus({ id: worker_id, presence, transport, clock, logger });
  const close = () =>
    closeAll([() => bus.leave(), () => bus[Symbol.dispose](), () => channel[Symbol.asyncDispose]()]);
  await channel.tried;
  if (channel.isConnected) {
    // Notify over another connection: a pooler does deliver a client's own notifications.
    await notifications.notify(name, bus.probe);
    if (!(await bus.isProbed(PROBE_MS))) {
      await close();
      return undefined;
    }
  }
  return { bus, drain: () => bus.takeNothing(), [Symbol.asyncDispose]: close };
}
