import type { ShownStep } from './run-queries.ts';

/** What calls of models used. */
export interface Used {
  readonly tokens: number;
  /** `null` where no price is configured. */
  readonly cost: number | null;
}

/** Tokens and cost of the calls of models among these steps. */
export function usedBy(steps: readonly ShownStep[]): Used {
  return steps
    .filter(({ kind }) => kind === 'model')
    .reduce<Used>(
      (sum, step) => {
        const cost = 'cost' in step ? step.cost : null;
        return {
          tokens: sum.tokens + (step.tokens_in ?? 0) + (step.tokens_out ?? 0),
          cost: cost === null ? sum.cost : (sum.cost ?? 0) + cost,
        };
      },
      { tokens: 0, cost: null },
    );
}
