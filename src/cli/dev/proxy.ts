import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { addressesOf } from '../../http/listen.ts';
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
  #listeners: readonly Server[] = [];
  #address: Address | undefined;
  /** The actual one, also if 0 is configured. */
  #port = 0;
  #waiting: Socket[] = [];
  #upstream: Upstream = 'starting';

  /** Moves to this address. Throws a `StartFailure` and stays at the old one on failure. */
  async listenAt(address: Address): Promise<void> {
    const before = this.#address;
    const old = this.#listeners;
    if (old.length > 0 && address.host === before?.host && address.port === before.port) return;
    const isSamePort = address.port === this.#port;
    // A port is also in use at another address if one of the two is 0.0.0.0.
    if (isSamePort) closeAll(old);
    const listeners = await this.#listen(address).catch(async (error: unknown) => {
      if (isSamePort && before) {
        // Another program may have taken it meanwhile.
        this.#listeners = await this.#listen({ ...before, port: this.#port }).catch(() => []);
      }
      throw listenFailure(error, address);
    });
    closeAll(old);
    this.#listeners = listeners;
    this.#address = address;
    this.#port = portOf(listeners[0]);
  }

  /** Empty until listening. */
  get url(): string {
    const { host } = this.#address ?? {};
    if (host === undefined) return '';
    return `http://${isIPv6(host) ? `[${host}]` : host}:${this.#port}`;
  }

  /** Switches the upstream; queued connections follow. */
  routeTo(upstream: Upstream): void {
    this.#upstream = upstream;
    for (const socket of this.#waiting.splice(0)) this.#forward(socket);
  }

  /** Does not wait for connections already handed over. */
  [Symbol.dispose](): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    closeAll(this.#listeners);
  }

  /** Listens on the first address of the host, and on as many of the others as are available, like `start`. */
  async #listen({ host, port }: Address): Promise<[Server, ...Server[]]> {
    const [first, ...others] = await addressesOf(host);
    const listener = await this.#listenOn({ host: first, port });
    const also = others.map((other) => this.#listenOn({ host: other, port: portOf(listener) }));
    const results = await Promise.allSettled(also);
    return [listener, ...results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))];
  }

  async #listenOn(address: Address): Promise<Server> {
    const listener = createServer({ pauseOnConnect: true, noDelay: true });
    listener.on('connection', (socket) => {
      // The client may disconnect while queued.
      socket.on('error', () => {});
      this.#forward(socket);
    });
    listener.listen(address);
    await once(listener, 'listening');
    return listener;
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

function portOf(listener: Server): number {
  return (listener.address() as AddressInfo).port;
}

function closeAll(listeners: readonly Server[]): void {
  for (const listener of listeners) listener.close();
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
