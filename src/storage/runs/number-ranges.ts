/** The first and the last of consecutive numbers. */
export type NumberRange = readonly [first: number, last: number];

/** Numbers as they are stored: `1-57,60`. */
export function toRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const each of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === each) last[1] = each;
    else ranges.push([each, each]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}

export function fromRanges(text: string): number[] {
  return numbersIn(rangesOf(text));
}

export function rangesOf(text: string): NumberRange[] {
  return text.split(',').map((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return [first, last];
  });
}

export function numbersIn(ranges: readonly NumberRange[]): number[] {
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
}

/** In order, and apart from each other. */
export function union(ranges: readonly NumberRange[]): NumberRange[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** Those of the first that are not among the second; both as of `union`. */
export function difference(some: readonly NumberRange[], others: readonly NumberRange[]): NumberRange[] {
  const left: NumberRange[] = [];
  let at = 0;
  for (const [first, last] of some) {
    let from = first;
    while ((others[at]?.[1] ?? Number.POSITIVE_INFINITY) < from) at += 1;
    for (let n = at; from <= last; n += 1) {
      const [begin, end] = others[n] ?? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      if (begin > from) left.push([from, Math.min(last, begin - 1)]);
      from = end + 1;
    }
  }
  return left;
}
