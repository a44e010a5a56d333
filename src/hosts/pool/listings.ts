import type { Logger } from '../../core/logger.ts';
import { fromWireError } from '../protocol/errors.ts';
import type { HostListing } from './host.ts';

/** What the hosts have loaded, as the first that is ready reports it; anew after each reload. */
export class Listings {
  #next = Promise.withResolvers<HostListing>();
  /** `undefined` before the first host is ready, and while a reload replaces it. */
  #last: HostListing | undefined;
  #failure: Error | undefined;
  readonly #listeners: ((listing: HostListing) => void)[] = [];

  constructor() {
    this.#next.promise.catch(() => {});
  }

  /** Rejects while no host could load the project. */
  get promise(): Promise<HostListing> {
    return this.#next.promise;
  }

  /** Why there are no hosts: none has managed to load the project yet. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get last(): HostListing | undefined {
    return this.#last;
  }

  /** Calls `act` with the listing, at once if it is known, and again after each reload. */
  on(act: (listing: HostListing) => void): void {
    this.#listeners.push(act);
    if (this.#last) act(this.#last);
  }

  /** A host is ready. */
  add(listing: HostListing): void {
    this.#failure = undefined;
    if (this.#last) return;
    // The previous promise may have been rejected, or belong to other code.
    this.#next.resolve(listing);
    this.#next = Promise.withResolvers();
    this.#next.resolve(listing);
    this.#last = listing;
    for (const act of this.#listeners) act(listing);
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#next.reject(error);
  }

  /** The next host that is ready reports what the project is now. */
  renew(): void {
    this.#last = undefined;
  }
}

/** Logs it if the project's app could not be loaded in a host. */
export function logAppError(logger: Logger, host: number, { app }: HostListing): void {
  if (!app || !('error' in app)) return;
  logger.error('http.app failed to load in a graph host', { host, error: fromWireError(app.error) });
}
