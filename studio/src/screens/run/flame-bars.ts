import type { Row } from './timeline-rows.ts';

/** A bar of the flame view. */
export interface FlameBar {
  readonly row: Row;
  /** Row from the top. The parent step is above. */
  readonly lane: number;
}

/** Bars narrower than this share of the whole are invisible. */
const MIN_PART = 0.0005;

/**
 * Places each step below its parent, and steps that overlap in time in separate lanes. `rows` are in timeline order, where a
 * step follows its parent.
 */
export function flameBars(rows: readonly Row[], span: number): { bars: FlameBar[]; hidden: number } {
  const bars: FlameBar[] = [];
  const ends: number[] = [];
  /** Lanes of the ancestors of the current step, by depth. */
  const around: number[] = [];
  let hidden = 0;
  for (const row of rows) {
    let lane = row.depth === 0 ? 0 : (around[row.depth - 1] ?? -1) + 1;
    while ((ends[lane] ?? Number.NEGATIVE_INFINITY) > row.from) lane += 1;
    around[row.depth] = lane;
    ends[lane] = Math.max(row.to, row.from);
    if ((row.to - row.from) / span < MIN_PART) hidden += 1;
    else bars.push({ row, lane });
  }
  return { bars, hidden };
}
