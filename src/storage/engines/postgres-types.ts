const BOOL = 16;
const INT8 = 20;
const JSON_TEXT = 114;
const TIMESTAMPTZ = 1184;
const JSONB = 3802;

/**
 * How a column's text becomes a value, by type id, where it must be as SQLite has it: JSON stays text, a timestamp is
 * ISO-8601 in UTC with milliseconds, a truth value 0 or 1.
 */
export const POSTGRES_PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  // Counts and sequences: beyond 2^53 is out of reach.
  [INT8]: Number,
  [JSON_TEXT]: (text) => text,
  [JSONB]: (text) => text,
  [TIMESTAMPTZ]: timestamp,
};

/** From `2026-11-21 01:53:38.37+00`, in whatever zone the session has. */
function timestamp(text: string): string {
  const iso = text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  return new Date(iso).toISOString();
}
