import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { listenFailure } from '../../node.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `starting` queues connections until a process is ready; a refusal answers them with 503 and this text. */
type Upstream = ChildProcess | 'starting' | Refusal;

interface Refusal {
  readonly refusal: string;
  /** `Retry-After`, seconds. */
  readonly retry_after: number;
}

/**
 * Owns the port in `dev` while server processes are replaced. Hands sockets over unread, so that no client is refused
 * during a restart.
 */
export class DevProxy implements Disposable {
  #listener: Server | undefined;
  #address: Address | undefined;
  #url = '';
  #waiting: Socket[] = [];
  #upstream: Upstream = 'starting';

  /** Moves the listener to this address. Throws a `StartFailure` and keeps the old one on failure. */
  async listenAt(address: Address): Promise<void> {
    if (address.host === this.#address?.host && address.port === this.#address.port) return;
    const listener = createServer({ pauseOnConnect: true, noDelay: true });
    listener.on('connection', (socket) => {
      // The client may disconnect while queued.
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

  /** Empty until listening. */
  get url(): string {
    return this.#url;
  }

  /** Switches the upstream; queued connections follow. */
  routeTo(upstream: Upstream): void {
    this.#upstream = upstream;
    for (const socket of this.#waiting.splice(0)) this.#forward(socket);
  }

  /** Does not wait for connections already handed over. */
  [Symbol.dispose](): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    this.#listener?.close();
  }

  #forward(socket: Socket): void {
    if (this.#upstream === 'starting') this.#waiting.push(socket);
    else if ('refusal' in this.#upstream) sendUnavailable(socket, this.#upstream);
    else {
      this.#upstream.send('connection', socket, { keepOpen: false }, (error) => {
        // The process has just exited: queue the socket for the next one.
        if (error) this.#waiting.push(socket);
      });
    }
  }
}

function sendUnavailable(socket: Socket, { refusal: detail, retry_after }: Refusal): void {
  const body = JSON.stringify({ detail });
  // Discard unread bytes: closing with them pending would reset the connection and lose the response.
  socket.resume();
  socket.end(
    `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `retry-after: ${retry_after}\r\nconnection: close\r\n\r\n${body}`,
  );
}
