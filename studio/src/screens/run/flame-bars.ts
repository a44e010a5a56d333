import type { Row } from './timeline-rows.ts';

/** A step of the flame view. */
export interface FlameBar {
  readonly row: Row;
  /** Line from the top; what a step is part of is above it. */
  readonly lane: number;
}

/** Bars that are narrower than this part of the whole cannot be seen. */
const MIN_PART = 0.0005;

/**
 * Places each step below the one that it is part of, and steps that overlap in time in lanes of their own.
 * `rows`: in the order of the timeline, where a step follows the one that it is part of.
 */
export function flameBars(rows: readonly Row[], span: number): { bars: FlameBar[]; hidden: number } {
  const bars: FlameBar[] = [];
  const ends: number[] = [];
  /** Lanes of the steps around the present one, by depth. */
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
