import { either, isObject, type JsonObject } from '../../api/values.ts';

/** One of the answers that a question offers. */
export interface Option {
  readonly label: string;
  /** What is sent. */
  readonly value: unknown;
}

export interface Choices {
  readonly options: readonly Option[];
  /** What the question has besides its text and its options. */
  readonly rest: JsonObject;
}

const TEXTS = ['question', 'message', 'prompt', 'title', 'description'] as const;
const LISTS = ['options', 'choices'] as const;
/** More would not be buttons. */
const MAX_OPTIONS = 12;

/** The text of a question that has one. */
export function textOf(value: JsonObject): string | undefined {
  const text = either(value, ...TEXTS);
  return typeof text === 'string' ? text : undefined;
}

/** The answers offered by `interrupt({ question, options })`; `undefined` if the value is of another shape. */
export function choicesOf(value: unknown): Choices | undefined {
  if (!isObject(value) || textOf(value) === undefined) return undefined;
  const list = LISTS.find((name) => Array.isArray(value[name]));
  const options = list ? (value[list] as readonly unknown[]).map(optionOf) : [];
  if (options.length === 0 || options.length > MAX_OPTIONS) return undefined;
  const found = options.filter((option) => option !== undefined);
  if (found.length < options.length) return undefined;
  const text = TEXTS.find((name) => value[name] !== undefined);
  const rest = Object.entries(value).filter(([name]) => name !== text && name !== list);
  return { options: found, rest: Object.fromEntries(rest) };
}

/** `Red`, `3`, `{ label: 'Red', value: 'r' }`, or the same with other names. */
function optionOf(option: unknown): Option | undefined {
  if (typeof option === 'string' || typeof option === 'number' || typeof option === 'boolean')
    return { label: labelOf(option), value: option };
  if (!isObject(option)) return undefined;
  const value = either(option, 'value', 'id', 'key');
  const label = either(option, 'label', 'title', 'name', 'text') ?? value;
  if (typeof label !== 'string' && typeof label !== 'number') return undefined;
  return { label: labelOf(label), value: value === undefined ? label : value };
}

/** A button without words could not be told from others. */
function labelOf(label: string | number | boolean): string {
  const text = String(label);
  return text.trim() === '' ? '(empty)' : text;
}
