/** PostgreSQL's `@>` of JSON objects, in the plainest words. */
export function contains(document: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(document) && wanted.every((each) => document.some((element) => contains(element, each)))
    );
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof document !== 'object' || document === null || Array.isArray(document)) return false;
    const members = new Map(Object.entries(document));
    return Object.entries(wanted).every(
      ([key, each]) => members.has(key) && contains(members.get(key), each),
    );
  }
  return document === wanted;
}
