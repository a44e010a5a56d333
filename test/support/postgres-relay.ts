import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Order, PostgresLine, type Transaction } from './postgres-line.ts';

const GIVE_UP_MS = 30_000;

/** A line to a PostgreSQL that breaks at the worst moment. */
export class PostgresRelay implements AsyncDisposable {
  readonly #target: URL;
  readonly #server = createServer((client) => this.#accept(client));
  readonly #lines = new Set<PostgresLine>();
  readonly #orders = new Set<Order>();
  #isCut = false;
  #isSilent = false;
  #round_trips = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  static async listen(target: string): Promise<PostgresRelay> {
    const relay = new PostgresRelay(target);
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening');
    return relay;
  }

  /** The address of the database by way of this. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Answers that clients have waited for, or wait for. */
  get round_trips(): number {
    return this.#round_trips;
  }

  /**
   * Lets the next such transaction commit, and breaks the connection before its client hears of it. Resolves when that
   * has happened.
   */
  loseCommit(of: Transaction): Promise<void> {
    return this.#order('lose commit', of);
  }

  /** Stops the next such transaction before the statement that shows what it is. Resolves when it stands. */
  hold(of: Transaction): Promise<void> {
    return this.#order('hold', of);
  }

  /** Breaks all connections, and each new one at once, until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const line of this.#lines) line.destroy();
  }

  /** Passes nothing on any more and breaks no connection, like a firewall that drops packets. */
  silence(): void {
    this.#isSilent = true;
    this.silenceOpen();
  }

  /** The same for the connections that are open now: new ones are passed on. */
  silenceOpen(): void {
    for (const line of this.#lines) line.silence();
  }

  /** After a cut or silence; connections that were silent are gone. */
  mend(): void {
    if (this.#isSilent) for (const line of this.#lines) line.destroy();
    this.#isCut = false;
    this.#isSilent = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#isCut) {
      client.destroy();
      return;
    }
    const server = connect(Number(this.#target.port || 5432), this.#target.hostname);
    const line = new PostgresLine(client, server, this.#orders, () => {
      this.#round_trips += 1;
    });
    if (this.#isSilent) line.silence();
    this.#lines.add(line);
    client.on('close', () => this.#lines.delete(line));
  }

  async #order(what: Order['what'], of: Transaction): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = new Error(`waited ${GIVE_UP_MS} ms in vain for the transaction ${of}`);
    const timer = setTimeout(() => reject(late), GIVE_UP_MS);
    const order = { what, of, done: resolve };
    this.#orders.add(order);
    await promise.finally(() => {
      clearTimeout(timer);
      this.#orders.delete(order);
    });
  }
}
