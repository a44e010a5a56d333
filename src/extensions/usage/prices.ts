import type { RecordedStep } from '../../schemas/steps.ts';
import { NANOS } from './storage/charges.ts';

/** Per million tokens, in the configured currency. */
export interface Price {
  readonly in: number;
  /** Price of cached input tokens; defaults to `in`. */
  readonly cached?: number | undefined;
  readonly out: number;
}

/** Prices by the name of a model, in which `*` stands for any text. */
export type Prices = Readonly<Record<string, Price>>;

/** Cost of a model call, rounded to a billionth; `null` without a price or tokens, and for other steps. */
export type CostOf = (step: Pick<RecordedStep, 'kind' | 'model' | keyof Tokens>) => number | null;

type Tokens = Pick<RecordedStep, 'tokens_in' | 'tokens_cached' | 'tokens_out'>;

/** Capacity of the cache of prices: model names come from graph code and are unbounded. */
const MAX_REMEMBERED = 1000;

/** An exact name takes precedence, then the longest pattern. */
export function pricing(prices: Prices): CostOf {
  const patterns = Object.entries(prices)
    .filter(([name]) => name.includes('*'))
    .sort(([a], [b]) => b.length - a.length);
  const known = new Map<string, Price | undefined>();
  const find = (model: string): Price | undefined =>
    Object.hasOwn(prices, model)
      ? prices[model]
      : patterns.find(([pattern]) => isMatch(model, pattern.split('*')))?.[1];
  return ({ kind, model, ...tokens }) => {
    if (kind !== 'model' || model === null) return null;
    if (!known.has(model)) {
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(model, find(model));
    }
    const price = known.get(model);
    return price ? costOf(price, tokens) : null;
  };
}

function costOf(price: Price, { tokens_in, tokens_cached, tokens_out }: Tokens): number | null {
  if (tokens_in === null && tokens_out === null) return null;
  const cached = Math.min(tokens_cached ?? 0, tokens_in ?? 0);
  const read = ((tokens_in ?? 0) - cached) * price.in + cached * (price.cached ?? price.in);
  return Math.round((read + (tokens_out ?? 0) * price.out) * (NANOS / 1e6)) / NANOS;
}

/**
 * `parts`: the pattern split at its stars. Finds each part after the previous one: linear, unlike a regular
 * expression.
 */
function isMatch(name: string, [first = '', ...rest]: string[]): boolean {
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= name.length - last.length;
}
