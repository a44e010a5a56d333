/** What the classes of the SDK have for themselves. */
const INTERNAL = new Set(['constructor', 'prepareFetchOptions', 'fetch', 'streamWithRetry']);

/** A part of a client that remembers which of its methods were called. */
export function everyMethod<T extends object>(part: T): { part: T; uncalled: () => string[] } {
  const called = new Set<string>();
  const recorder = new Proxy(part, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      called.add(String(name));
      return value.bind(target);
    },
  });
  return { part: recorder, uncalled: () => methodsOf(part).filter((name) => !called.has(name)) };
}

function methodsOf(part: object): string[] {
  const names = new Set<string>();
  for (let at = part; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && !INTERNAL.has(name)) names.add(name);
    }
  }
  return [...names];
}
