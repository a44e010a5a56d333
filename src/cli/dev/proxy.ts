import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { listenFailure } from '../../node.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `starting` keeps connections until there is a process, a refusal answers them with 503 and this text. */
type Upstream = ChildProcess | 'starting' | Refusal;

interface Refusal {
  readonly refusal: string;
  /** Seconds. */
  readonly retry_after: number;
}

/**
 * Holds the port in `dev` while server processes come and go behind it. It reads nothing from a connection: it hands
 * it to the process that serves. So no client is refused during a restart.
 */
export class DevProxy implements Disposable {
  #listener: Server | undefined;
  #address: Address | undefined;
  #url = '';
  #waiting: Socket[] = [];
  #upstream: Upstream = 'starting';

  /** Opens here, and closes where it was open before. Throws a `StartFailure` and stays where it is. */
  async listenAt(address: Address): Promise<void> {
    if (address.host === this.#address?.host && address.port === this.#address.port) return;
    const listener = createServer({ pauseOnConnect: true, noDelay: true });
    listener.on('connection', (socket) => {
      // A client that goes away while it waits.
      socket.on('error', () => {});
      this.#forward(socket);
    });
    listener.listen(address.port, address.host);
    await once(listener, 'listening').catch((error) => {
      throw listenFailure(error, address);
    });
    this.#listener?.close();
    this.#listener = listener;
    this.#address = address;
    const { port } = listener.address() as AddressInfo;
    this.#url = `http://${isIPv6(address.host) ? `[${address.host}]` : address.host}:${port}`;
  }

  /** Empty until it is open. */
  get url(): string {
    return this.#url;
  }

  /** Where connections go from now on, those that wait included. */
  routeTo(upstream: Upstream): void {
    this.#upstream = upstream;
    for (const socket of this.#waiting.splice(0)) this.#forward(socket);
  }

  /** Does not wait until connections that it handed over have ended. */
  [Symbol.dispose](): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    this.#listener?.close();
  }

  #forward(socket: Socket): void {
    if (this.#upstream === 'starting') this.#waiting.push(socket);
    else if ('refusal' in this.#upstream) sendUnavailable(socket, this.#upstream);
    else {
      this.#upstream.send('connection', socket, { keepOpen: false }, (error) => {
        // The process ended at this very moment; the next one shall serve it.
        if (error) this.#waiting.push(socket);
      });
    }
  }
}

function sendUnavailable(socket: Socket, { refusal: detail, retry_after }: Refusal): void {
  const body = JSON.stringify({ detail });
  // Unread bytes would make the end a reset, and the answer would be lost.
  socket.resume();
  socket.end(
    `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `retry-after: ${retry_after}\r\nconnection: close\r\n\r\n${body}`,
  );
}
