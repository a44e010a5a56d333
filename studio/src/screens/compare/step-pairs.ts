import { diffLines } from '../../ui/diff.ts';
import type { ShownStep } from '../run/run-queries.ts';
import type { Row } from '../run/timeline-rows.ts';

/** A row of the timeline that is a step, not an attempt. */
export type StepRow = Row & { readonly step: ShownStep };

/** A step of one run and the same step of another one. One of them may not have it. */
export interface StepPair {
  readonly id: string;
  readonly left: StepRow | undefined;
  readonly right: StepRow | undefined;
}

/** Steps are the same if they have the same kind, name and depth, and come in the same order. */
export function stepPairs(left: readonly Row[], right: readonly Row[]): StepPair[] {
  const lefts = left.filter(isStep);
  const rights = right.filter(isStep);
  let [i, j] = [0, 0];
  return diffLines(lefts.map(keyOf), rights.map(keyOf)).map(({ kind }) => {
    const one = kind === 'add' ? undefined : lefts[i++];
    const other = kind === 'delete' ? undefined : rights[j++];
    return { id: `${one?.id ?? ''}~${other?.id ?? ''}`, left: one, right: other };
  });
}

const isStep = (row: Row): row is StepRow => row.step !== undefined;
const keyOf = ({ depth, name, step }: StepRow) => `${depth} ${step.kind} ${name}`;
