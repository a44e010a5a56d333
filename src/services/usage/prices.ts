import type { RecordedStep } from '../../schemas/steps.ts';
import { NANOS } from '../../storage/runs/usage.ts';

/** Per million tokens, in the configured currency. */
export interface Price {
  readonly in: number;
  /** Of tokens that the provider had in a cache; without it, they cost what others do. */
  readonly cached?: number | undefined;
  readonly out: number;
}

/** Prices by the name of a model, in which `*` stands for any text. */
export type Prices = Readonly<Record<string, Price>>;

/** What a call of a model costs, to a billionth; null without a price or tokens, and for other steps. */
export type CostOf = (step: Pick<RecordedStep, 'kind' | 'model' | keyof Tokens>) => number | null;

type Tokens = Pick<RecordedStep, 'tokens_in' | 'tokens_cached' | 'tokens_out'>;

/** Models whose price is remembered: their names come from the code of graphs. */
const MAX_REMEMBERED = 1000;

/** The exact name counts first, then the longest pattern. */
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

/** `parts`: of a pattern, between its stars. Each is looked for after the one before: linear, unlike an expression. */
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
