/** A line of a diff. `fold` stands for unchanged lines. */
export interface DiffLine {
  readonly kind: 'same' | 'add' | 'delete' | 'fold';
  readonly text: string;
}

/** Lines of context around a change. */
const CONTEXT = 3;
/** Maximum number of line pairs compared. Larger changes are shown as all old lines, then all new ones. */
const MAX_PAIRS = 4_000_000;

/** Line diff of two values as JSON. `undefined` has no lines. */
export function diffOf(before: unknown, after: unknown): DiffLine[] {
  return folded(diffLines(linesOf(before), linesOf(after)));
}

/**
 * A list is rendered as the lines of its items, without brackets and commas, so that an added item changes no other line.
 */
function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(jsonLines);
  return value === undefined ? [] : jsonLines(value);
}

function jsonLines(value: unknown): string[] {
  return JSON.stringify(value, null, 2).split('\n');
}

/** All lines of two texts, in order: those of one, of the other, and of both. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [
    ...linesAs('same', before.slice(0, start)),
    ...changes(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...linesAs('same', before.slice(before.length - end)),
  ];
}

function linesAs(kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}

/** Diff along a longest common subsequence. */
function changes(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length * after.length > MAX_PAIRS || before.length === 0 || after.length === 0)
    return [...linesAs('delete', before), ...linesAs('add', after)];
  const width = after.length + 1;
  // Length of the longest common subsequence after line i of one and line j of the other.
  const lengths = new Uint16Array((before.length + 1) * width);
  const lengthAt = (i: number, j: number) => lengths[i * width + j] as number;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ kind: 'same', text: before[i] as string });
      i++;
      j++;
    } else if (j >= after.length || (i < before.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ kind: 'delete', text: before[i++] as string });
    } else lines.push({ kind: 'add', text: after[j++] as string });
  }
  return lines;
}

/** Folds unchanged lines that are further from a change than `CONTEXT`. */
function folded(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(({ kind }, at) => {
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const shown: DiffLine[] = [];
  let hidden = 0;
  const fold = () => {
    if (hidden > 0) shown.push({ kind: 'fold', text: `${hidden} ${hidden === 1 ? 'line' : 'lines'}` });
    hidden = 0;
  };
  lines.forEach((line, at) => {
    if (!isNear[at]) hidden++;
    else {
      fold();
      shown.push(line);
    }
  });
  fold();
  return shown;
}
