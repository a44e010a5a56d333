import { z } from 'zod';

/** Ids from clients: any UUID version, also 0, which `z.uuid()` refuses. Case does not make another id. */
export const Uuid = z.guid({ error: 'must be a UUID' }).toLowerCase();
export const Timestamp = z.iso.datetime({ offset: true });
export const JsonObject = z.record(z.string(), z.unknown());
export type JsonObject = z.infer<typeof JsonObject>;

export const Limit = z.int().min(1).max(1000);
export const Offset = z.int().min(0);
export const SortOrder = z.enum(['asc', 'desc']);

/** A whole number in a query. */
export const QueryInt = z
  .string()
  .regex(/^-?\d{1,15}$/, 'must be a whole number')
  .transform(Number)
  .meta({ type: 'integer' });

/** SDKs send `1`/`0`, the documentation `true`/`false` (CONTRACT §2.3). */
export const QueryFlag = z
  .enum(['true', 'True', '1', 'yes', 'false', 'False', '0', 'no'])
  .transform((text) => text === 'true' || text === 'True' || text === '1' || text === 'yes')
  .meta({ type: 'boolean' });

/** One value, a repeated key, a comma list, or a JSON list in one string (CONTRACT, version trap). */
export function queryList<T extends z.ZodType>(item: T) {
  return z.preprocess(splitList, z.array(item));
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
