import { inUtc } from '../core/clock.ts';
import { InvalidInput } from '../core/errors.ts';

/** A page of a list with the values of its pagination headers (contract §1 "Pagination headers"). */
export interface Page<T, Next extends number | string = number> {
  readonly items: T[];
  /** Offset of the next page, or its cursor if the request has one; `undefined` on the last one. */
  readonly next: Next | undefined;
  /** Lower bound of the row count, not the exact count: clients only check whether more rows follow. */
  readonly total: number;
}

/** Builds a page from rows read with `limit + 1`: the extra row signals a next page. */
export function pageOf<T>(rows: readonly T[], limit: number, offset: number): Page<T> {
  if (rows.length <= limit) return { items: [...rows], next: undefined, total: offset + rows.length };
  const next = offset + limit;
  return { items: rows.slice(0, limit), next, total: next + 1 };
}

/** A page of a list that continues at a cursor. A page that is not full may have a next one. */
export interface CursorPage<T> {
  readonly items: T[];
  /** Cursor of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

/** An opaque cursor: encodes a position in the named list. */
export function cursorOf(list: string, position: readonly string[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url');
}

/** Decodes a cursor. Throws `InvalidInput` if it belongs to another list or `isValid` rejects its position. */
export function positionOf(
  list: string,
  cursor: string,
  isValid: (position: readonly string[]) => boolean,
): readonly string[] {
  const [name, ...position] = textsIn(Buffer.from(cursor, 'base64url').toString());
  // PostgreSQL rejects NUL.
  const isStorable = position.every((text) => !text.includes('\0'));
  if (name === list && isStorable && isValid(position)) return position;
  throw new InvalidInput('cursor: must be the X-Pagination-Next header of a previous page of this list');
}

function textsIn(json: string): string[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) && parsed.every((each) => typeof each === 'string') ? parsed : [];
  } catch {
    return [];
  }
}

/** ISO 8601 in the form that storage writes; for `positionOf`. PostgreSQL rejects the year 0 and the 30th of February. */
export function isTimestamp(text: string | undefined): boolean {
  if (text === undefined || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) || Number.isNaN(Date.parse(text)))
    return false;
  const seconds = '2000-01-01T00:00:00'.length;
  return inUtc(text).slice(0, seconds) === text.slice(0, seconds);
}
