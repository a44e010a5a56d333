import { InvalidInput } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { ThreadSearch } from '../../schemas/threads.ts';
import type { SortKey } from '../../storage/search/access-path.ts';
import type { ThreadQuery } from '../../storage/threads/search.ts';
import { cursorOf, isTimestamp, positionOf } from '../pagination.ts';

type Order = Pick<ThreadSearch, 'sort_by' | 'sort_order'>;

/** Name of the list in its cursors. A cursor is only valid in its own sort order. */
const listIn = ({ sort_by, sort_order }: Order): string => `threads by ${sort_by} ${sort_order}`;

/**
 * The range of the list that a cursor selects; `{}` for a search that pages by offset. Throws `InvalidInput`.
 */
export function cursorRange(
  query: Order & Pick<ThreadSearch, 'cursor'>,
): Pick<ThreadQuery, 'has_keys' | 'after'> {
  const { cursor, sort_by } = query;
  if (cursor === undefined) return {};
  if (sort_by === 'status')
    throw new InvalidInput(
      'cursor: not available when sorting by status. Use "offset", or another "sort_by".',
    );
  if (cursor === '') return { has_keys: true };
  const isSort = sort_by === 'thread_id' ? (text: string) => isUuid(text) : isTimestamp;
  const isValid = ([sort = '', id = '', ...more]: readonly string[]) =>
    isSort(sort) && isUuid(id) && more.length === 0;
  const [sort, id] = positionOf(listIn(query), cursor, isValid) as [string, string];
  return { has_keys: true, after: { sort, id } };
}

/** The cursor of the page after this thread. */
export function cursorAt(order: Order, { sort, id }: SortKey): string {
  return cursorOf(listIn(order), [sort, id]);
}
