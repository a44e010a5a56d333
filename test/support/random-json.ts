/** Random JSON from a small world, so that documents and questions about them often meet. */
export class RandomJson {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number below `end`. */
  below(end: number): number {
    // Mulberry32: the same numbers for the same seed, so that a failure can be seen again.
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  object(levels = 3): Record<string, unknown> {
    const keys = ['a', 'b', 'a.b', '[]', '', 'ü"\\', '__proto__'];
    return Object.fromEntries(
      Array.from({ length: this.below(4) }, () => [this.one(keys), this.value(levels - 1)]),
    );
  }

  value(levels: number): unknown {
    const kind = levels > 0 ? this.below(5) : 0;
    if (kind === 3) return Array.from({ length: this.below(4) }, () => this.value(levels - 1));
    if (kind === 4) return this.object(levels);
    return this.one([0, -0, 1, 1.5, 1e21, '1', '', 'x', '\0', '\ud800', true, false, null]);
  }

  /** Something that the document contains, or nearly so. */
  partOfObject(document: object): Record<string, unknown> {
    const kept = Object.entries(document).filter(() => this.below(3) > 0);
    return Object.fromEntries(kept.map(([key, member]) => [key, this.#partOf(member)]));
  }

  #partOf(document: unknown): unknown {
    if (this.below(12) === 0) return this.value(2);
    if (Array.isArray(document)) {
      return document
        .filter(() => this.below(2) === 0)
        .map((each) => this.#partOf(each))
        .reverse();
    }
    return typeof document === 'object' && document !== null ? this.partOfObject(document) : document;
  }
}
