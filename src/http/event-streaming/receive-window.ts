/** Messages of one client that may wait for their answers. */
export const MAX_WAITING_MESSAGES = 64;
/** The same in bytes; a single message may be larger. */
export const MAX_WAITING_BYTES = 1024 * 1024;

/** What is used of the `ws` package's socket. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/**
 * Back-pressure on a client that writes faster than it is answered: while this much waits, its connection is not read
 * and TCP holds the client back. On top comes what was read at once with the last message, at most 64 KiB. Pings wait
 * behind what the client wrote before them. A paused connection is not told that its client is gone: it finds out with
 * the next answer, and every command is answered in the end.
 */
export class ReceiveWindow {
  readonly #socket: Pausable;
  #messages = 0;
  #bytes = 0;

  constructor(socket: Pausable) {
    this.#socket = socket;
  }

  /** Counts a message until what is returned is called, once. */
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
