/** `npm run chaos` runs the tests of this folder at their full size; `npm test` runs them as short as they still tell. */
export const IS_FULL = process.env['CHAOS'] === 'full';

export function sized<T>(short: T, full: T): T {
  return IS_FULL ? full : short;
}
