import { isObject, toJson } from '../core/json.ts';
import { reviewOf } from './human-review.ts';

/** What a person is asked by an interrupt: its text, or the field that usually holds it, else its value as JSON. */
export function questionOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return toJson(value);
  const review = reviewOf(value);
  if (review) return review.map(({ description }) => description).join('\n\n');
  const text = [value['question'], value['message'], value['prompt']].find(
    (field) => typeof field === 'string',
  );
  return text === undefined ? toJson(value) : String(text);
}
