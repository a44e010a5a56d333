import { Socket } from 'node:net';
import type pg from 'pg';
import { backoffMs, systemRandom } from '../../core/backoff.ts';
import { sleep } from '../../core/timers.ts';
import { connectClient } from './postgres-client.ts';
import type { PasswordSource } from './postgres-password.ts';

export interface ChannelOptions {
  /** A direct connection: a pooler in transaction mode never delivers notifications. */
  readonly url: string;
  readonly password?: PasswordSource | undefined;
  /** Lower-case letters, digits and `_`; at most 63. */
  readonly name: string;
  readonly onMessage: (text: string) => void;
  /** After every connect, the first one included; messages sent in between are lost. */
  readonly onConnect: () => void;
  /** The connection is lost and made again; called once for each loss. */
  readonly onDisconnect: (error: unknown) => void;
}

/** LISTEN and NOTIFY on a connection of its own. */
export interface NotificationChannel extends AsyncDisposable {
  readonly isConnected: boolean;
  /** Resolves when the first attempt to connect has ended, well or not. */
  readonly tried: Promise<void>;
  /** Rejects if the connection is lost: the message may or may not have been sent. */
  notify(text: string): Promise<void>;
  /** Replaces a connection that seems dead. */
  reset(reason: string): void;
}

const QUERY_TIMEOUT_MS = 5000;
const BACKOFF = { first_ms: 100, longest_ms: 5000 };

/**
 * One statement is one transaction and one round trip. A commit with NOTIFY takes a lock of the whole database, and
 * gets a transaction id: it must not wait for the disk meanwhile.
 */
const NOTIFY = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;

/** Opens the channel and keeps it open: reconnects with exponential back-off and jitter until disposed. */
export function openChannel(options: ChannelOptions): NotificationChannel {
  return new PostgresChannel(options);
}

class PostgresChannel implements NotificationChannel {
  readonly #options: ChannelOptions;
  readonly #end = new AbortController();
  readonly #connecting: Promise<void>;
  readonly tried: Promise<void>;
  #client: pg.Client | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #lost = Promise.withResolvers<unknown>();

  constructor(options: ChannelOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tried = promise;
    this.#connecting = this.#keepConnected(resolve);
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  async notify(text: string): Promise<void> {
    const client = this.#client;
    if (!client) throw new Error('the channel is not connected');
    try {
      await this.#inTurn(() => client.query(NOTIFY, [this.#options.name, text]));
    } catch (error) {
      if (client === this.#client) this.#lost.resolve(error);
      throw error;
    }
  }

  /** A connection executes one statement at a time. */
  #inTurn<T>(query: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(query, query);
    this.#turn = result;
    return result;
  }

  reset(reason: string): void {
    this.#lost.resolve(new Error(reason));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    this.#lost.resolve(undefined);
    await this.#connecting;
  }

  async #keepConnected(onTried: () => void): Promise<void> {
    const { signal } = this.#end;
    let failures = 0;
    while (!signal.aborted) {
      const error = await this.#untilLost(() => {
        failures = 0;
        onTried();
      });
      onTried();
      if (signal.aborted) return;
      this.#options.onDisconnect(error);
      failures += 1;
      await sleep(backoffMs(failures, BACKOFF, systemRandom), signal);
    }
  }

  /** Resolves to the error that ended the connection, or kept it from being made. */
  async #untilLost(onConnected: () => void): Promise<unknown> {
    const { url, password, name, onConnect, onMessage } = this.#options;
    this.#lost = Promise.withResolvers();
    const { promise: lost, resolve: lose } = this.#lost;
    // Hosts are tried in turn, each with a socket of its own: the last one is connected.
    let socket = new Socket();
    try {
      const client = await connectClient(url, {
        stream: () => {
          socket = new Socket();
          return socket;
        },
        application_name: 'agent-server events',
        query_timeout: QUERY_TIMEOUT_MS,
        password,
      });
      client.on('error', lose);
      client.on('end', () => lose(new Error('the connection was closed')));
      client.on('notification', ({ channel, payload = '' }) => {
        if (channel === name && client === this.#client) onMessage(payload);
      });
      this.#client = client;
      await this.#inTurn(() => client.query(`listen ${name}`));
      onConnected();
      onConnect();
      return await lost;
    } catch (error) {
      return error;
    } finally {
      this.#client = undefined;
      // Not `end`: over a dead line it waits for an answer.
      socket.destroy();
    }
  }
}
