/** Messages of one client that may be unanswered. */
export const MAX_WAITING_MESSAGES = 64;
/** Bytes of such messages; a single message may be larger. */
export const MAX_WAITING_BYTES = 1024 * 1024;

/** The subset of the `ws` socket in use. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/**
 * Back-pressure on a client that writes faster than it is answered: while the window is full, its socket is paused and
 * TCP blocks the sender. Up to 64 KiB read together with the last message come on top. Pings queue behind earlier
 * messages. A paused socket does not notice a disconnect until the next answer; every command is answered eventually.
 */
export class ReceiveWindow {
  readonly #socket: Pausable;
  #messages = 0;
  #bytes = 0;

  constructor(socket: Pausable) {
    this.#socket = socket;
  }

  /** Counts a message until the returned function is called, once. */
  add(bytes: number): () => void {
    this.#messages += 1;
    this.#bytes += bytes;
    if (this.#isFull()) this.#socket.pause();
    return () => {
      this.#messages -= 1;
      this.#bytes -= bytes;
      if (!this.#isFull()) this.#socket.resume();
    };
  }

  #isFull(): boolean {
    return this.#messages >= MAX_WAITING_MESSAGES || this.#bytes >= MAX_WAITING_BYTES;
  }
}
