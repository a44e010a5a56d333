import type { Socket } from 'node:net';
import { ClientMessages, isRefused, isWholeAnswer } from './postgres-messages.ts';

/** Whether the SQL of a transaction, one statement after the other, is the one that is meant. */
export type Transaction = (sql: string) => boolean;

export interface Order {
  readonly what: 'lose commit' | 'hold';
  readonly of: Transaction;
  readonly done: () => void;
}

/** One connection. A statement outside of `begin` and `commit` is a transaction of its own. */
export class PostgresLine {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #orders: Set<Order>;
  readonly #messages = new ClientMessages();
  /** Statements since `begin`. */
  #sql: string[] = [];
  #isOpen = false;
  /** Nothing is passed on to the server any more. */
  #isHeld = false;
  /** Called for each answer that the client waits for. */
  readonly #onAsked: () => void;
  /** The commit that is to be lost, and what the server has answered to it. */
  #losing: { readonly order: Order; answer: Buffer } | undefined;

  constructor(client: Socket, server: Socket, orders: Set<Order>, onAsked: () => void) {
    this.#client = client.setNoDelay();
    this.#server = server.setNoDelay();
    this.#orders = orders;
    this.#onAsked = onAsked;
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', () => this.destroy());
    client.on('data', (chunk: Buffer) => this.#fromClient(chunk));
    server.on('data', (chunk: Buffer) => this.#fromServer(chunk));
  }

  silence(): void {
    this.#client.pause();
    this.#server.pause();
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #fromClient(chunk: Buffer): void {
    for (const { bytes, sql, isEnd } of this.#messages.read(chunk)) {
      if (isEnd) this.#onAsked();
      if (sql !== undefined) this.#statement(sql);
      if (!this.#isHeld) this.#server.write(bytes);
    }
  }

  #statement(sql: string): void {
    const [verb] = sql.split(/\W/, 1);
    if (verb === 'begin') this.#sql = [];
    if (verb === 'begin') this.#isOpen = true;
    else if (verb === 'commit') this.#ends();
    else if (verb === 'rollback') this.#isOpen = false;
    else {
      this.#sql = this.#isOpen ? [...this.#sql, sql] : [sql];
      const order = this.#take('hold');
      this.#isHeld ||= order !== undefined;
      order?.done();
      if (!this.#isOpen) this.#ends();
    }
  }

  #ends(): void {
    const order = this.#take('lose commit');
    if (order) this.#losing = { order, answer: Buffer.alloc(0) };
    this.#isOpen = false;
  }

  #take(what: Order['what']): Order | undefined {
    const sql = this.#sql.join(';\n');
    const order = [...this.#orders].find((each) => each.what === what && each.of(sql));
    if (order) this.#orders.delete(order);
    return order;
  }

  #fromServer(chunk: Buffer): void {
    if (!this.#losing) {
      this.#client.write(chunk);
      return;
    }
    this.#losing.answer = Buffer.concat([this.#losing.answer, chunk]);
    const { order, answer } = this.#losing;
    if (!isWholeAnswer(answer)) return;
    this.#losing = undefined;
    if (isRefused(answer)) {
      this.#orders.add(order);
      this.#client.write(answer);
      return;
    }
    this.destroy();
    order.done();
  }
}
