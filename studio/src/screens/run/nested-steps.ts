interface Numbered {
  readonly number: number;
  /** Number of the parent step. */
  readonly parent: number | null;
}

/**
 * The steps of an attempt by number, nested below their parents. A parent may be missing: a step is recorded before its
 * parent has ended, and the record may be cut.
 */
export function nestedSteps<S extends Numbered>(steps: readonly S[]): { step: S; depth: number }[] {
  const numbers = new Set(steps.map(({ number }) => number));
  const children = Map.groupBy(
    steps.toSorted((a, b) => a.number - b.number),
    ({ parent }) => (parent !== null && numbers.has(parent) ? parent : null),
  );
  const nested: { step: S; depth: number }[] = [];
  const add = (parent: number | null, depth: number): void => {
    for (const step of children.get(parent) ?? []) {
      nested.push({ step, depth });
      add(step.number, depth + 1);
    }
  };
  add(null, 0);
  return nested;
}
