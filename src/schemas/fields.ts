import { z } from 'zod';
import { isWithinSize, type JsonSize } from '../core/json.ts';
import { MAX_SCALAR_LENGTH, MAX_UPDATES, uniqueList } from './bounds.ts';
import { nameResponses } from './named.ts';
import { boundedInt, MAX_INTEGER, type Range } from './numbers.ts';

/** Client ids: any UUID version, including 0, which `z.uuid()` rejects. Case-insensitive. */
export const Uuid = z.guid({ error: 'must be a UUID' }).toLowerCase();
export const Timestamp = z.iso.datetime({ offset: true });
/** The same from a client, whose fractions of a second have few digits. */
export const TimestampText = Timestamp.max(MAX_SCALAR_LENGTH);
export const JsonObject = z.record(z.string(), z.unknown());
export type JsonObject = z.infer<typeof JsonObject>;

const SMALL: JsonSize = { characters: 512 * 1024, values: 10_000 };
const ITEM: JsonSize = { characters: 1024 * 1024, values: 20_000 };
const FILTER: JsonSize = { characters: 64 * 1024, values: 200 };
const sizeError = ({ characters, values }: JsonSize) =>
  `must not be larger than ${characters / 1024} kB of text and ${values} values, keys included`;

/** For `refine`: descriptive objects are small, because they are searched and listed; graph input may be larger. */
export const withinSmallSize: [(value: unknown) => boolean, string] = [
  (value) => isWithinSize(value, SMALL),
  sizeError(SMALL),
];
/** For `refine` of an update of a state: `__copy__` makes an update of each of its values. */
export const withFewCopies: [(update: { values?: unknown; as_node?: unknown }) => boolean, CopiesProblem] = [
  ({ values, as_node }) => as_node !== '__copy__' || !Array.isArray(values) || values.length <= MAX_UPDATES,
  { error: `must have at most ${MAX_UPDATES} items`, path: ['values'] },
];
interface CopiesProblem {
  error: string;
  path: string[];
}
/** An item of the long-term store, which is full-text indexed. */
export const ItemObject = JsonObject.refine((value) => isWithinSize(value, ITEM), sizeError(ITEM));
/** Metadata, configuration, context. */
export const SmallObject = JsonObject.refine(...withinSmallSize);
/** A filter, matched against each of many objects. */
export const FilterObject = JsonObject.refine((value) => isWithinSize(value, FILTER), sizeError(FILTER));

const LIMIT: Range = { min: 1, max: 1000 };
const OFFSET: Range = { min: 0, max: MAX_INTEGER };
export const Limit = boundedInt(LIMIT);
export const Offset = boundedInt(OFFSET);
/** A position in a list, from the response header of the previous page. */
export const Cursor = z
  .string()
  .min(1)
  .max(1000)
  .optional()
  .describe('Where the page begins: `X-Pagination-Next` of the previous page.');
export const SortOrder = z.enum(['asc', 'desc']);

/** A whole number in a query string. */
export const queryInt = (range: Range) =>
  z
    .string()
    .max(MAX_SCALAR_LENGTH)
    .transform((text) => (/^-?\d+$/.test(text) ? Number(text) : text))
    .pipe(boundedInt(range))
    .meta({ type: 'integer', minimum: range.min, maximum: range.max });
export const QueryLimit = queryInt(LIMIT);
export const QueryOffset = queryInt(OFFSET);

/** SDKs send `1`/`0`, the documentation `true`/`false` (contract §2.3). */
export const QueryFlag = z
  .enum(['true', 'True', '1', 'yes', 'false', 'False', '0', 'no'])
  .transform((text) => text === 'true' || text === 'True' || text === '1' || text === 'yes')
  .meta({ type: 'boolean' });

/**
 * One value, a repeated key, a comma list, or a JSON list in one string (contract §1); without duplicates. An empty list counts
 * as none: the Python SDK sends `stream_mode=` for all modes.
 */
export function queryList<T extends z.ZodType>(item: T) {
  return z.preprocess((value) => {
    const list = splitList(value);
    return Array.isArray(list) && list.length === 0 ? undefined : list;
  }, uniqueList(item).optional());
}

function splitList(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((each) => splitList(each));
  if (typeof value !== 'string') return value;
  if (value.startsWith('[')) {
    try {
      return JSON.parse(value);
    } catch {
      return [value];
    }
  }
  return value.split(',').filter((part) => part !== '');
}

/** The body of every failed request (contract §1). */
export const ErrorResponse = z.object({ detail: z.string() });
export type ErrorResponse = z.infer<typeof ErrorResponse>;

nameResponses({ ErrorResponse });
