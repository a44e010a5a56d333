type Version = readonly [number, number, number];

/** npm ranges without pre-releases, such as `>=20.1 <23`, `^22 || ~24.2`, `20.x`, `18 - 22` and `*`. */
const COMPARATOR =
  /^(>=|<=|>|<|=|\^|~>?)?v?(\d{1,9}|[xX*])(?:\.(\d{1,9}|[xX*]))?(?:\.(\d{1,9}|[xX*]))?(?:[-+][\w.+-]*)?$/;
const MAX_LENGTH = 200;

/** Whether a Node version satisfies a range of `engines.node`; `undefined` if the range cannot be parsed. */
export function satisfies(version: string, range: string): boolean | undefined {
  const numbers = version.replace(/^v/, '').split('-', 1)[0]!.split('.').map(Number);
  if (range.length > MAX_LENGTH) return undefined;
  const alternatives = range.split('||').map((text) => inAll(numbers as unknown as Version, text.trim()));
  if (alternatives.includes(true)) return true;
  return alternatives.includes(undefined) ? undefined : false;
}

function inAll(version: Version, text: string): boolean | undefined {
  if (text === '') return true;
  const [low, high, ...more] = text.split(' - ');
  if (high !== undefined) {
    if (more.length > 0) return undefined;
    return and(compared(version, `>=${low!.trim()}`), compared(version, `<=${high.trim()}`));
  }
  // A space may separate an operator from its version.
  const comparators = text
    .replace(/(>=|<=|>|<|=|\^|~) {1,9}/g, '$1')
    .split(/[ ,]/)
    .filter(Boolean);
  return comparators.map((each) => compared(version, each)).reduce(and);
}

function and(a: boolean | undefined, b: boolean | undefined): boolean | undefined {
  if (a === undefined || b === undefined) return undefined;
  return a && b;
}

/** A comparator is a half-open interval: its lowest version, and the first version above it. */
function compared(version: Version, text: string): boolean | undefined {
  const match = COMPARATOR.exec(text);
  if (!match) return undefined;
  const parts = match
    .slice(2)
    .map((part) => (part === undefined || /[xX*]/.test(part) ? undefined : Number(part)));
  const [major, minor, patch] = parts;
  if (major === undefined) return true;
  const low: Version = [major, minor ?? 0, minor === undefined ? 0 : (patch ?? 0)];
  /** Upper bound of a partial version: `20.1` covers all of 20.1. */
  const end: Version =
    minor === undefined
      ? [major + 1, 0, 0]
      : patch === undefined
        ? [major, minor + 1, 0]
        : [major, minor, patch + 1];
  const operator = match[1] ?? '=';
  if (operator === '>=') return !isBelow(version, low);
  if (operator === '>') return !isBelow(version, end);
  if (operator === '<') return isBelow(version, low);
  if (operator === '<=') return isBelow(version, end);
  return !isBelow(version, low) && isBelow(version, upperEnd(operator, low, end, minor));
}

function upperEnd(operator: string, low: Version, end: Version, minor: number | undefined): Version {
  const [major] = low;
  if (operator === '=') return end;
  if (operator.startsWith('~')) return minor === undefined ? end : [major, minor + 1, 0];
  // A caret range keeps the first number that is not zero.
  if (major > 0 || minor === undefined) return [major + 1, 0, 0];
  return minor > 0 ? [0, minor + 1, 0] : end;
}

function isBelow(a: Version, b: Version): boolean {
  for (const at of [0, 1, 2] as const) if (a[at] !== b[at]) return a[at] < b[at];
  return false;
}
