import type { Readable } from 'node:stream';
import type { Ids } from '../../core/ids.ts';
import type { RemoteRequest } from '../../http/custom-app/remote-app.ts';
import type { InternalCall } from '../../http/in-process.ts';
import type { ForwardedResponse } from '../protocol/http.ts';

/** A request for the project's app, until its response has ended. */
export interface Exchange {
  readonly id: string;
  /** Forwards a request to the server's own routes, and keeps the body of the response. */
  forward(call: InternalCall): Promise<ForwardedResponse>;
  /** The body of such a response, once: the caller reads it. */
  takeBody(number: number): Readable | undefined;
}

/** The open exchanges of a pool. */
export class Exchanges {
  readonly #open = new Map<string, Exchange>();
  readonly #ids: Ids;

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** Ends with the signal of the request; bodies that were not taken end with it too. */
  open({ forward, signal }: RemoteRequest): Exchange {
    const id = this.#ids.secret();
    const bodies = new Map<number, Readable>();
    let last = 0;
    const exchange: Exchange = {
      id,
      async forward(call) {
        const response = await forward({ ...call, signal: AbortSignal.any([signal, call.signal]) });
        const { status, headers, body } = response;
        if (!body) return { status, headers };
        bodies.set(++last, body);
        return { status, headers, body: last };
      },
      takeBody(number) {
        const body = bodies.get(number);
        bodies.delete(number);
        return body;
      },
    };
    this.#open.set(id, exchange);
    signal.addEventListener('abort', () => this.#open.delete(id), { once: true });
    return exchange;
  }

  find(id: string): Exchange | undefined {
    return this.#open.get(id);
  }
}
