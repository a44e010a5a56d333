/** A cell delimiter, or an escaped character that is not one. */
const BARS = /\\[\\|]|\|/g;

/** Cells of a row of a Markdown table. */
export function cellsOf(row: string): number {
  const bars = barsOf(row).length;
  return bars + 1 - Number(/^\s*\|/.test(row)) - Number(/(?<!\\)\|\s*$/.test(row));
}

/** Rows of a Markdown table with at most their first `count` cells. */
export function firstCells(rows: string, count: number): string {
  return rows
    .split('\n')
    .map((row) => {
      const end = barsOf(row)[count - 1 + Number(/^\s*\|/.test(row))];
      return end === undefined ? row : row.slice(0, end + 1);
    })
    .join('\n');
}

/** Positions of the cell delimiters. */
export function barsOf(text: string): number[] {
  return [...text.matchAll(BARS)].filter(([found]) => found === '|').map(({ index }) => index);
}
