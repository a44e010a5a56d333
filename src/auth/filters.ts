import { isObject } from '../core/json.ts';
import type { MetadataFilter } from '../db/metadata-filter.ts';

type Plain = string | number | boolean | null;

/**
 * A filter that a handler returned (CONTRACT §10): `k: v`, `{$eq}`, `{$contains}`, `$or`, `$and`. Throws a plain error,
 * which the client sees as a 500, for anything else: an `undefined` that was meant to be a user's name must not end up
 * as a filter that lets everybody in.
 */
export function readFilter(given: unknown): MetadataFilter {
  if (!isObject(given))
    throw new Error(`An auth handler returned a filter that is not an object: ${kind(given)}`);
  return { all: Object.entries(given).map(([field, wanted]) => member(field, wanted)) };
}

function member(field: string, wanted: unknown): MetadataFilter {
  if (field === '$and') return { all: branches(field, wanted) };
  if (field === '$or') return { any: branches(field, wanted) };
  if (field.startsWith('$')) throw unknown(field);
  if (!isObject(wanted)) return { contains: { [field]: plain(field, wanted) } };
  const operators = Object.entries(wanted);
  if (operators.length === 0) throw new Error(`An auth handler's filter has no operator for '${field}': {}`);
  return { all: operators.map(([operator, operand]) => condition(field, operator, operand)) };
}

function condition(field: string, operator: string, operand: unknown): MetadataFilter {
  if (operator === '$eq') return { contains: { [field]: plain(field, operand) } };
  if (operator !== '$contains') throw unknown(operator);
  const values = Array.isArray(operand) ? operand : [operand];
  return { contains: { [field]: values.map((value) => plain(field, value)) } };
}

function branches(operator: string, wanted: unknown): MetadataFilter[] {
  if (Array.isArray(wanted)) return wanted.map(readFilter);
  throw new Error(`An auth handler's filter has no list under '${operator}'`);
}

function plain(field: string, value: unknown): Plain {
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (value === null || isNumber || typeof value === 'string' || typeof value === 'boolean') return value;
  throw new Error(`An auth handler's filter compares '${field}' with an unsupported value: ${kind(value)}`);
}

function unknown(operator: string): Error {
  return new Error(`An auth handler's filter has the unknown operator '${operator}'`);
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
