import type { StoredCheckpoint } from '../../storage/checkpoints/rows.ts';
import { MAX_LIST_BYTES, tooLarge } from '../../storage/search/list-bytes.ts';

/** The first page: the default of `GET /threads/{id}/history`. */
const FIRST_PAGE = 10;
/** A page has at most so many times the states of the page before: older ones may be larger. */
const GROWTH = 4;
/** Expected size of a page, bytes. */
const PAGE_BYTES = MAX_LIST_BYTES / 4;

/** Number of states on the first page of a history when `limit` are wanted. */
export function firstPageSize(limit: number): number {
  return Math.min(limit, FIRST_PAGE);
}

/** Size of the states that are read for one reply. They are read in pages, so that a long history is never in memory. */
export class HistorySize {
  bytes = 0;
  #states = 0;

  /** After each state. Throws `InvalidInput` if there are several, and too large. */
  add(): void {
    this.#states += 1;
    this.requireFit();
  }

  /** After more of the last state is read. Throws as `add`. */
  requireFit(): void {
    if (this.#states > 1 && this.bytes > MAX_LIST_BYTES)
      throw tooLarge(`the ${this.#states} newest of these states have ${this.bytes} bytes`, MAX_LIST_BYTES);
  }

  async *pages(
    find: (before_id: string | undefined, limit: number) => Promise<StoredCheckpoint[]>,
    before_id: string | undefined,
    limit: number,
  ): AsyncGenerator<StoredCheckpoint[]> {
    let from = before_id;
    let size = FIRST_PAGE;
    for (let left = limit; left > 0; ) {
      const most = Math.min(left, size);
      const page = await find(from, most);
      yield page;
      if (page.length < most) return;
      left -= page.length;
      from = page.at(-1)?.checkpoint_id;
      const expected = this.bytes / this.#states;
      size = Math.max(1, Math.min(GROWTH * size, Math.floor(PAGE_BYTES / expected)));
    }
  }
}
