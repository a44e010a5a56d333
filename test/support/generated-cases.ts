interface Cases {
  readonly numRuns: number;
  readonly seed: number;
}

/**
 * The cases that a property is tried with: the same ones in every run, so that one change does not fail for what
 * another left. `GENERATED_CASES=10000 npx vitest run FILE` tries as many new ones; a failure prints its seed.
 */
export function generatedCases(numRuns: number): Cases {
  const asked = process.env['GENERATED_CASES'];
  return asked ? { numRuns: Number(asked), seed: Date.now() % 1e9 } : { numRuns, seed: 1 };
}
