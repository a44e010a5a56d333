type Version = string | number | null | undefined;

/**
 * Makes LangGraph's channel versions: a counter that sorts as text, then what makes it unique. Two forks of one thread
 * count on from the same number, and a value is stored once for its version: they must never meet.
 * `writer` is random for each attempt; versions of one attempt differ by their own number.
 */
export function versionSource(writer: string): (current: Version) => string {
  let made = 0;
  return (current) => {
    made += 1;
    const counter = countOf(current) + 1;
    return `${String(counter).padStart(COUNTER_DIGITS, '0')}.${writer}${made.toString(36)}`;
  };
}

const COUNTER_DIGITS = 8;

/** The version that was made last. */
export function latestVersion(versions: readonly Version[]): Version {
  return versions.reduce(
    (latest, version) => (countOf(version) > countOf(latest) ? version : latest),
    undefined,
  );
}

/** Savers of other makers count in plain numbers, or in longer texts with a fraction behind. */
function countOf(version: Version): number {
  return Number.parseInt(String(version ?? 0), 10) || 0;
}
