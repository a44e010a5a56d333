/**
 * Queue from a source that is read eagerly to one slow reader. LangGraph's own streams drop unread items when the graph
 * throws: a slow reader would lose the tokens just before an error.
 */
export class EventQueue<T> {
  #items: T[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** Unread items. */
  get length(): number {
    return this.#items.length;
  }

  /** Drops the item after the end, and once the reader has left: a source that cannot be stopped continues. */
  push(item: T): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** The reader receives all items first. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** The reader receives all items first, then this error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.end();
  }

  /** For one reader. The queue closes when it stops reading. */
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
