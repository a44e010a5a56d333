/**
 * Hands items from a source that is read eagerly to one reader that takes its time. LangGraph's own streams drop what
 * is still unread when the graph throws: the tokens just before an error would be lost to a slow reader.
 */
export class EventQueue<T> {
  #items: T[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** Items that wait for the reader. */
  get length(): number {
    return this.#items.length;
  }

  /** After the end, and once nobody reads any more, the item is dropped: a source that cannot be stopped goes on. */
  push(item: T): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** The reader gets all items first. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** The reader gets all items first, then this error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.end();
  }

  /** For one reader. The queue is closed when it stops reading. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    try {
      while (true) {
        const items = this.#items;
        this.#items = [];
        yield* items;
        if (this.#items.length > 0) continue;
        if (this.#failure) throw this.#failure.error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#items = [];
      this.#ended = true;
    }
  }
}
