import type { Edit } from './faults.ts';

/** The source with the edit. Throws if it has not exactly one place for it: the mechanism is elsewhere now. */
export function edited(source: string, { file, find, replace }: Edit): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file} does not have exactly one: ${find}`);
  return before + replace + after;
}
