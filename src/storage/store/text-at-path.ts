import { isObject } from '../../core/json.ts';

/** The whole value. */
export const ROOT_PATH = '$';

/**
 * Non-empty texts at the paths, each embedded separately. Paths as LangGraph documents them (its own reader finds
 * nothing behind `[*]`): `$`, `title`, `author.name`, `chapters[*].text`, `tags[0]`, `tags[-1]`, `*.text`,
 * `{title,author.name}`. A path without a value has no text.
 */
export function textsAtPaths(value: Record<string, unknown>, paths: readonly string[]): string[] {
  const texts = paths.flatMap((path) => (isWhole(path) ? [JSON.stringify(value)] : textsOfPath(value, path)));
  return [...new Set(texts.filter((text) => text.trim() !== ''))];
}

/** Text for full-text search; of a whole value only its contents, not its field names. */
export function searchText(value: Record<string, unknown>, paths: readonly string[]): string {
  return paths.flatMap((path) => (isWhole(path) ? leavesOf(value) : textsOfPath(value, path))).join('\n');
}

function isWhole(path: string): boolean {
  return path === ROOT_PATH || path === '';
}

function leavesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (isObject(value)) return Object.values(value).flatMap(leavesOf);
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

function textsOfPath(value: unknown, path: string): string[] {
  return valuesAt(value, tokenizePath(path)).flatMap((found) => {
    if (found === null || found === undefined) return [];
    return [typeof found === 'object' ? JSON.stringify(found) : String(found)];
  });
}

/** `[…]`, `{…}`, or a name up to the next of them or a dot. Linear time for unclosed brackets. */
const STEP = /\[[^[\]]*\]|\{[^{}]*\}|[^.][^.[{]*/g;

function tokenizePath(path: string): string[] {
  const steps = path.trim().match(STEP) ?? [];
  return steps[0] === ROOT_PATH ? steps.slice(1) : steps;
}

/** Breadth-first over all values: overlapping alternatives would otherwise double the work with each step. */
function valuesAt(value: unknown, steps: readonly string[]): unknown[] {
  return steps.reduce<unknown[]>(
    (values, step) => withoutRepeats(values.flatMap((each) => stepInto(each, step))),
    [value],
  );
}

/** Deduplicates objects and lists; keeps repeated texts and numbers. */
function withoutRepeats(values: readonly unknown[]): unknown[] {
  const seen = new Set<unknown>();
  return values.filter((value) => {
    const isNew = typeof value !== 'object' || !seen.has(value);
    seen.add(value);
    return isNew;
  });
}

function stepInto(value: unknown, step: string): unknown[] {
  if (step === '*') return typeof value === 'object' && value !== null ? Object.values(value) : [];
  if (step.startsWith('{')) {
    const paths = [...new Set(step.slice(1, -1).split(','))].map(tokenizePath);
    return paths.flatMap((steps) => (steps.length > 0 ? valuesAt(value, steps) : []));
  }
  if (step.startsWith('[')) {
    if (!Array.isArray(value)) return [];
    const index = step.slice(1, -1);
    return index === '*' ? value : /^-?\d+$/.test(index) ? [value.at(Number(index))] : [];
  }
  return isObject(value) && Object.hasOwn(value, step) ? [value[step]] : [];
}
